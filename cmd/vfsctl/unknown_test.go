package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/cli"
)

// The error of an unknown command names the one that serves instead, and never a command that destroys.
func TestUnknownCommand(t *testing.T) {
	for _, tt := range []struct {
		typed string
		want  string // of the last line; "" is no advice
	}{
		{"cd", "shell has a prompt"},
		{"checkout", "switch stands on a branch"},
		{"exec", "run works on a branch"},
		{"history", "log shows what happened"},
		{"revert", "undo takes back"},
		{"rebase", "merge brings"},
		{"unmount", "mount ends"},
		{"verify", "check"},
		{"prune", "snapshot prune"},
		{"forget", "snapshot prune"},
		{"stats", "df"},
		{"repair", "check"},
		{"version", "vfsctl --version"},
		{"snapshto", "did you mean snapshot?"},
		{"snap", "did you mean snapshot?"},
		{"imprt", "did you mean import?"},
		{"sl", ""},
		{"rn", ""},
		{"rmm", ""},
		{"xyzzy", ""},
	} {
		var errs strings.Builder
		require.Equal(t, cli.ExitUsage, run(t.Context(), []string{tt.typed}, nil, io.Discard, &errs), tt.typed)
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		require.Contains(t, lines[0], `unknown command "`+tt.typed+`"`)
		if tt.want == "" {
			require.Len(t, lines, 2, "%s: %s", tt.typed, errs.String())
			continue
		}
		require.Contains(t, lines[len(lines)-1], tt.want, tt.typed)
	}
}

// Advice names commands that exist.
func TestWellKnownCommands(t *testing.T) {
	root := newRoot(&cli.App{})
	for word, advice := range wellKnown {
		for _, c := range root.Commands() {
			require.NotEqual(t, word, c.Name(), "%s is a command by now", word)
		}
		first := strings.Fields(strings.ReplaceAll(advice, ",", ""))[0]
		found, _, err := root.Find([]string{first})
		known := strings.HasPrefix(first, "--") || first == "vfsctl" || first == "every"
		require.True(t, known || err == nil && found != root, "%s: %s", word, advice)
	}
}

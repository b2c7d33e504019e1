package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/cli"
)

// What people type who know git, jj and restic either is a command here, or its error names the one that does the work.
// A slip of the pen is never led to a command that destroys.
func TestUnknownCommand(t *testing.T) {
	for _, tt := range []struct {
		typed string
		want  string // in the advice; "" is no advice
	}{
		{"checkout", "vfsctl switch BRANCH"},
		{"checkout v1 -- a.txt", "vfsctl restore REF:PATH"},
		{"checkout -b new", "vfsctl switch -c NEW"},
		{"restore --source=v1 -- a.txt", "vfsctl restore REF:PATH"},
		{"restore v1 --target /tmp/x --include a.txt", "vfsctl --at REF export DEST"},
		{"commit -am x", "vfsctl snapshot create NAME"},
		{"commit -v", "vfsctl snapshot create NAME"},
		{"add .", "vfsctl import DIR"},
		{"stash pop", "vfsctl restore NAME"},
		{"reset --hard v1", "vfsctl restore REF"},
		{"revert 71", "vfsctl undo --call N"},
		{"cherry-pick 71", "vfsctl merge BRANCH"},
		{"tag -l", "vfsctl snapshot list"},
		{"remote -v", "vfsctl git export REF"},
		{"filter-repo --path a --invert-paths", "vfsctl purge PATH --everywhere --dry-run"},
		{"rewrite --exclude a", "vfsctl purge PATH --everywhere --dry-run"},
		{"forget --keep-last 2 --prune", "vfsctl snapshot prune --keep-last N"},
		{"op restore 71", "vfsctl restore REF"},
		{"file show -r v1 a.txt", "vfsctl cat REF:PATH"},
		{"describe -m hi", "vfsctl snapshot create NAME --note TEXT"},
		{"branch newb", "vfsctl branch create NAME"},
		{"branch -d newb", "vfsctl branch delete NAME"},
		{"branch -v", "vfsctl branch list"},
		{"branch checkout b", "vfsctl switch BRANCH"},
		{"snapshot forget v1", "vfsctl snapshot delete NAME"},
		{"snapshot new v1", "vfsctl snapshot create NAME"},
		{"git log -p", "vfsctl log"},
		{"git clone x", "vfsctl git import REPO"},
		{"--no-pager log", "vfsctl diff -p REF | cat"},
		{"log -1", "vfsctl log -n N"},
		{"log -S x", "vfsctl blame PATH"},
		{"log --author ann", "vfsctl log --actor NAME"},
		{"log --grep fix", "vfsctl log --tool NAME"},
		{"diff --cached", "vfsctl diff -p REF"},
		{"diff -w v1", "vfsctl diff --word REF"},
		{"blame -L 1,2 a.txt", "vfsctl blame PATH"},
		{"merge --abort", "vfsctl undo"},
		{"undo 71", "vfsctl undo --call N"},
		{"init .", "vfsctl import DIR"},
		{"cd docs", "vfsctl shell"},
		{"snapshto", "did you mean snapshot?"},
		{"snap", "did you mean snapshot?"},
		{"imprt", "did you mean import?"},
		{"branch creat", "did you mean create?"},
		{"sl", ""},
		{"rn", ""},
		{"rmm", ""},
		{"xyzzy --flag", ""},
		{"log --xyzzy", ""},
	} {
		var errs strings.Builder
		require.Equal(t, cli.ExitUsage, run(t.Context(), strings.Fields(tt.typed), nil, io.Discard, &errs), tt.typed)
		lines := strings.SplitN(strings.TrimSpace(errs.String()), "\n", 3)
		require.Regexp(t, "unknown|takes no arguments", lines[0])
		if tt.want == "" {
			require.Len(t, lines, 2, "%s: %s", tt.typed, errs.String())
			continue
		}
		require.Len(t, lines, 3, "%s: %s", tt.typed, errs.String())
		require.Contains(t, strings.Split(lines[2], "\n"), lineWith(lines[2], tt.want), tt.typed)
	}
}

// Advice that repeats a word of the command line does not steer the terminal.
func TestAdviceIsSafe(t *testing.T) {
	t.Chdir(t.TempDir())
	const evil = "\x1b]0;evil\a"
	require.Equal(t, cli.ExitOK, run(t.Context(), []string{"init"}, nil, io.Discard, io.Discard))
	for _, args := range [][]string{{"--db", evil, "ls"}, {"restore", evil}, {"ls", "HEAD~1:" + evil}, {evil}} {
		var errs strings.Builder
		require.NotEqual(t, cli.ExitOK, run(t.Context(), args, nil, io.Discard, &errs), args)
		require.Contains(t, errs.String(), "evil")
		require.NotContains(t, errs.String(), "\x1b", args)
	}
}

// lineWith returns the line of a text that ends with something, or what was looked for.
func lineWith(text, end string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasSuffix(line, end) {
			return line
		}
	}
	return "a line that ends with " + end
}

// Advice has command lines that the program takes, and is about words and flags that it does not.
func TestHabits(t *testing.T) {
	for slip, advice := range cli.Habits {
		if words := strings.Fields(slip); !strings.HasSuffix(slip, "*") && !strings.HasPrefix(slip, "-") {
			cmd, rest, err := newRoot(&cli.App{}).Find(words)
			require.True(t, err != nil || len(rest) > 0, "%s is a command by now", slip)
			if name, flag := strings.CutPrefix(rest[0], "-"); flag {
				known := cmd.Flags().Lookup(strings.TrimPrefix(name, "-")) != nil
				if len(name) == 1 {
					known = cmd.Flags().ShorthandLookup(name) != nil
				}
				require.False(t, known, "%s is a flag by now", slip)
			}
		}

		for line := range strings.Lines(advice) {
			line = strings.TrimSpace(line)
			_, command, found := strings.Cut(line, ": ")
			require.True(t, found && len(line) <= 100, "%s: %s", slip, line)
			command, _, _ = strings.Cut(command, " | ")
			words := strings.Fields(strings.ReplaceAll(command+" ", " N ", " 7 "))
			if words[0] == "umount" { // of the host
				continue
			}
			require.Equal(t, "vfsctl", words[0], "%s: %s", slip, line)

			cmd, rest, err := newRoot(&cli.App{}).Find(words[1:])
			require.NoError(t, err, "%s: %s", slip, line)
			require.NoError(t, cmd.ParseFlags(rest), "%s: %s", slip, line)
			require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), "%s: %s", slip, line)
		}
	}
}

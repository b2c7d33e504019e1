package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/cli"
)

// suggested has for each word of usage lines and of flags what its completion suggests in the store of
// TestEveryWordIsCompleted: a name of the store, or nothing, not even files of the host; "host" is files of the host.
var suggested = map[string]string{
	"PATH": "dir/", "[REF:]PATH": "dir/", "[PATH]": "dir/", "FROM": "dir/", "TARGET": "dir/", "[PATH...]": "dir/", "[[REF:]PATH...]": "dir/",
	"[[REF:]PATH]": "dir/", "[REF:]PATH...": "dir/", "PATH...": "dir/", "FROM...": "dir/", "[REF:]FROM...": "dir/",
	"REF": "try1", "REF[:PATH]...": "try1", "[REF]": "try1", "[A]": "try1", "SOURCE": "try1", "{REF": "try1", "{BRANCH": "try1", "BRANCH": "try1",
	"SNAPSHOT": "snap1", "[CALL|SNAPSHOT]": "snap1", "CALL": "1024",
	"SESSION": "", "ACTOR": "", "NAME": "", "[NAME]": "", "N": "", "TEXT": "", "TIME": "", "SPAN": "", "SUM": "", "MODE": "", "GLOB": "", "SIZE": "",
	"PATTERN": "", "K=V": "", "ADDR": "", "ORIGIN": "", "COMMIT": "", "NEW": "", "SEQ": "", "NAME=DB[@BRANCH]": "",
	"WHEN": "always", "FORMAT": "tar", "TYPE": "", "WAY": "copy", "OP": "write", "TOOL": "vfsctl mkdir", "none": "none", "base, ours, theirs": "ours",
	"LOCAL|-": "host", "SRC": "host", "DEST": "host", "REPO": "host", "DIR": "host", "FILE": "host",
	"[COMMAND]": "diff", "bash|zsh|fish|powershell": "zsh", "[flags]": "",
}

// exceptions are places where a word means something else.
var exceptions = map[string]string{
	"find [DIR]": "dir/", "mkdir DIR...": "dir/", "export [PATH]": "dir/", "tools [NAME]": "workspace_ls", "tools call NAME": "workspace_ls",
	"branch update NAME": "try1", "branch adopt NAME": "try1", "branch delete NAME...": "try1", "branch rename OLD": "try1",
	"snapshot show NAME": "snap1", "snapshot delete NAME...": "snap1", "undo --call": "102", "resolve --take": "host",
	"mcp --profile": "helix", "tools --profile": "helix", "tools call --profile": "helix", "tools profiles --profile": "helix",
}

// The first argument of each command and each flag are completed: by names of the store, by files of the host, or by nothing.
// A word that is new in a usage line has to be entered above.
func TestEveryWordIsCompleted(t *testing.T) {
	db := filepath.Join(t.TempDir(), "agent.db")
	does := func(args ...string) string {
		var out, errs strings.Builder
		code := run(t.Context(), append([]string{"--db", db}, args...), strings.NewReader("x"), &out, &errs)
		require.Zero(t, code, "%v: %s", args, errs.String())
		return out.String()
	}
	does("init")
	does("mkdir", "dir")
	does("snapshot", "create", "snap1")
	does("branch", "create", "try1")

	check := func(place, word string, args ...string) {
		want, known := exceptions[place]
		if !known {
			want, known = suggested[word]
		}
		if !known {
			t.Errorf("%s: what does %s suggest?", place, word)
			return
		}
		got := does(append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...)
		files := strings.HasSuffix(got, ":0\n")
		require.Equal(t, want == "host", files, "%s: %s", place, got)
		if want != "" && !files {
			require.Regexp(t, "(?m)^"+regexp.QuoteMeta(want), got, place)
		}
	}
	for _, cmd := range commands(newRoot(&cli.App{})) {
		name := strings.Fields(cmd.CommandPath())[1:]
		words := strings.Fields(cmd.Use)
		if len(words) > 1 && words[1] != "COMMAND" {
			check(strings.Join(name, " ")+" "+words[1], words[1], append(name, "")...)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if word, _ := pflag.UnquoteUsage(f); word != "" && f.Value.Type() != "bool" && !f.Hidden {
				check(strings.Join(name, " ")+" --"+f.Name, word, append(name, "--"+f.Name, "")...)
			}
		})
	}

	// A reference goes on with a path, and @{ with a moment.
	require.Regexp(t, `(?m)^try1:$`, does(cobra.ShellCompNoDescRequestCmd, "cat", "tr"))
	require.Regexp(t, `(?m)^try1:dir/$`, does(cobra.ShellCompNoDescRequestCmd, "cat", "try1:"))
	require.Regexp(t, `(?m)^main@\{-1\}:$`, does(cobra.ShellCompNoDescRequestCmd, "cat", "main@{"))
	require.NotContains(t, does(cobra.ShellCompNoDescRequestCmd, "rm", "tr"), "try1")
	require.Regexp(t, `(?m)^@\{call \d+\}$`, does(cobra.ShellCompNoDescRequestCmd, "--at", "@{c"))
	require.Regexp(t, `(?m)^main@\{1 hour ago\}$`, does(cobra.ShellCompNoDescRequestCmd, "diff", "main@{1"))
}

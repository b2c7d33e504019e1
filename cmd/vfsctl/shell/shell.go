package shell

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"vfsdb/cmd/vfsctl/cli"
)

// Command returns the command shell. newRoot makes the command above all those that can be typed in it.
func Command(a *cli.App, newRoot func(*cli.App) *cobra.Command) *cobra.Command {
	var text string
	cmd := &cobra.Command{
		Use:   "shell",
		Short: "Type commands at a prompt inside the tree",
		Long: `Run commands that are typed, or read from standard input, without vfsctl in front. The store stays open between
them. The prompt shows where they stand: the branch or the moment, and a directory.

cd DIR changes the directory, where the paths of all commands begin, and cd REF:DIR goes to another tree: a branch, a snapshot or
a moment. switch goes to a branch and remembers it, as it does outside. pwd, help and exit are there too. A path behind REF:
begins at the root, unless it begins with ./ or ../ as in git. find, grep, ls, du and tree show paths from the directory on, all
others from the root. Files of the host are looked for in the host's working directory. run begins at the root of the tree.

Quotes, backslashes, comments, ;, && and || are those of sh. Of paths, * ? [a-z] {a,b} and ** match names in the tree. What
follows | is for the shell of the host, and so is a line that begins with !. There are no variables, no redirections and no
loops.

At a terminal lines are edited, Tab completes commands, flags, names and paths, Ctrl-R searches the lines of before, Ctrl-C
ends a command, and Ctrl-D the shell. Lines are remembered for this user, unless they begin with a space.

Without a terminal, and with -c, the first command that fails ends the shell, and its exit code is that of the shell.`,
		Example: `  vfsctl shell
  vfsctl --at before shell
  vfsctl shell -c 'cd src; ls; cat *.md | wc -l'
  vfsctl shell < commands.txt`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			s := &session{Shell: a.NewShell(c, newRoot), app: a, in: a.In, out: a.Out.Under(), errs: a.Errs.Under()}
			if c.Cmd.Flags().Changed("command") {
				return s.script(c, strings.NewReader(text))
			}
			if isTerminal(a.In) && a.Out.TTY {
				return s.interact(c)
			}
			s.in = taken{}
			return s.script(c, a.In)
		}),
	}
	cmd.Flags().StringVarP(&text, "command", "c", "", "run the commands in `TEXT`")
	_ = cmd.RegisterFlagCompletionFunc("command", cli.CompleteNothing)
	return cmd
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

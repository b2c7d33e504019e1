package shell

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

// Commands returns the commands that only a shell has.
func Commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{cdCommand(a), pwdCommand(a), exitCommand(a)}
}

func cdCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "cd [[REF:]DIR | -]",
		Short: "Change the directory, or the tree",
		Long: `Make paths begin at DIR, by default at the root. REF: goes to another tree, which later commands stand on: a
branch, or a snapshot or a moment of the past, which is read-only. - goes back to the directory and the tree of before.`,
		Example: `  cd docs
  cd before:/
  cd -`,
		Args: cli.Args(0, 1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) (dirs []cobra.Completion, _ cobra.ShellCompDirective) {
			if len(args) > 0 || typed == "-" {
				return nil, cli.NoFiles
			}
			all, _ := a.CompletePaths(cmd, args, typed)
			for _, name := range all {
				if strings.HasSuffix(name, "/") || strings.HasSuffix(name, ":") {
					dirs = append(dirs, name)
				}
			}
			return dirs, cli.NoFiles | cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "-" {
				return a.Plain(func(*cobra.Command, []string) error {
					a.Shell().GoBack()
					return nil
				})(cmd, args)
			}
			return a.OnTrees(1, func(c *cli.Call) error { return changeDir(a.Shell(), c, c.Arg(0, "/")) })(cmd, args)
		},
	}
}

// changeDir makes a directory the one where paths begin.
func changeDir(s *cli.Shell, c *cli.Call, arg string) error {
	there, name, err := c.Of(arg)
	if err == nil && (name == arg || strings.HasPrefix(arg, "@{")) {
		err = c.Gone // the argument is about the branch
	}
	if err != nil {
		return err
	}

	info, err := there.FS.Stat(c, name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Path: arg, Err: syscall.ENOTDIR}
	}
	var failed *fs.PathError
	if errors.As(err, &failed) {
		failed.Op = "cd"
	}
	if err != nil {
		return err
	}
	dir, err := there.FS.Resolve(c, name, true)
	if err != nil {
		return err
	}

	ref := ""
	if name != arg {
		ref = strings.TrimSuffix(strings.TrimSuffix(arg, name), ":")
	}
	s.Go(ref, there.FS, dir)
	return nil
}

func pwdCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "pwd",
		Short:   "Print the directory where paths begin",
		Long:    "Print the directory where paths begin. With --json, print also the branch or the moment.",
		Example: `  pwd`,
		Args:    cli.Args(0, 0),
		RunE: a.Plain(func(*cobra.Command, []string) error {
			s := a.Shell()
			if !a.JSON {
				return a.Out.Line(a.Out.Name(s.Dir))
			}
			return a.Out.JSON(struct {
				cli.Path
				Branch string `json:"branch"`
				At     string `json:"at,omitempty"`
			}{cli.NewPath(s.Dir), s.Branch, s.At})
		}),
	}
}

func exitCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "exit",
		Aliases: []string{"quit"},
		Short:   "End the shell",
		Long:    "End the shell. Ctrl-D does the same.",
		Example: `  exit`,
		Args:    cli.Args(0, 0),
		RunE: a.Plain(func(*cobra.Command, []string) error {
			a.Shell().Ended = true
			return nil
		}),
	}
}

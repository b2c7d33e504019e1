package files

import (
	"errors"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/search"
)

func findCommand(a *cli.App) *cobra.Command {
	var kind string
	var most int
	cmd := &cobra.Command{
		Use:   "find [DIR] [PATTERN]",
		Short: "Find files by name",
		Long: `Find files below DIR, and print their paths. PATTERN is a glob: * and ? stay within a name, **
crosses directories, [a-z] and {a,b} work as in a shell. A pattern with a slash is matched on the path below
DIR, and any other on the name, at any depth.

A single argument is a pattern if it has one of *?[{ in it, else a directory.`,
		Example: `  vfsctl find '*.go'
  vfsctl find src '**/testdata/*.json'
  vfsctl find --type d --max 20
  vfsctl --at before find logs --json`,
		Args: cli.Args(0, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 || isPattern(typed) {
				return nil, cli.NoFiles
			}
			return a.CompletePaths(cmd, args, typed)
		},
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			dir, pattern := c.Arg(0, c.Dir), c.Arg(1, "")
			if len(c.Args) == 1 && isPattern(dir) {
				dir, pattern = c.Dir, dir
			}

			o := &search.FindOptions{Pattern: pattern, MatchBase: !strings.Contains(pattern, "/"), Max: most}
			word, ok := findTypes[kind]
			if !ok {
				return cli.Usage(c.Cmd, "--type is f (file), d (directory) or l (symlink), not %q", kind)
			}
			if most < 0 {
				return cli.Usage(c.Cmd, "--max cannot be below 0")
			}
			o.Kind = word

			found, truncated, err := search.Find(c, c.FS, dir, o)
			if errors.Is(err, syscall.EINVAL) && pattern != "" {
				return cli.Usage(c.Cmd, "pattern %q: %w", pattern, err)
			}
			if err != nil {
				return err
			}

			for _, f := range found {
				if err := printFound(a, f); err != nil {
					return err
				}
			}
			if truncated {
				a.Warn("stopped after %s, there are more", human.Plural(int64(most), "result", "results"))
			}
			return nil
		}),
	}

	cmd.Flags().StringVarP(&kind, "type", "t", "", "only `TYPE`: f file, d directory, l symlink")
	cmd.Flags().IntVar(&most, "max", 0, "stop after `N` results; 0 is never")
	a.Print0(cmd)
	return cmd
}

// isPattern reports whether an argument is a pattern, and no directory.
func isPattern(arg string) bool { return strings.ContainsAny(arg, "*?[{") }

// findTypes are the values of --type.
var findTypes = map[string]string{
	"": "", "f": "file", "file": "file", "d": "directory", "directory": "directory", "l": "symlink", "symlink": "symlink",
}

func printFound(a *cli.App, f search.Hit) error {
	if a.JSON {
		return a.Out.JSON(cli.NewEntry(f.Path, f.Info))
	}
	return a.Out.Line(a.Out.Paint(term.StyleOf(f.Info.Mode()), a.Out.Name(a.Shown(f.Path))))
}

package files

import (
	"path"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/vfs"
)

func lnCommand(a *cli.App) *cobra.Command {
	var symbolic bool
	cmd := &cobra.Command{
		Use:   "ln TARGET NAME",
		Short: "Give a file another name, or make a symlink",
		Long: `Give the file TARGET another name; with -s make a symlink that points at TARGET, which
need not exist and is kept as it is written. If NAME is a directory, the link is made in it.`,
		Example: `  vfsctl ln report.md docs/report.md
  vfsctl ln -s ../config.toml app/config.toml`,
		Args: cli.Args(2, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if symbolic && len(args) == 0 { // it begins where the link is
				return nil, cli.NoFiles
			}
			return a.CompletePaths(cmd, args, typed)
		},
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			target, name := c.Args[0], c.Args[1]

			return a.Update(c, func(tx *vfs.Tx) ([]string, error) {
				if info, err := tx.Stat(name); err == nil && info.IsDir() {
					name = path.Join(name, path.Base(target))
				}
				link := tx.Link
				if symbolic {
					link = tx.Symlink
				}
				return []string{name}, link(target, name)
			})
		}),
	}

	cmd.Flags().BoolVarP(&symbolic, "symbolic", "s", false, "make a symlink")
	return cmd
}

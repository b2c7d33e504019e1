package files

import (
	"io/fs"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
)

func mkdirCommand(a *cli.App) *cobra.Command {
	var parents bool
	var mode string
	cmd := &cobra.Command{
		Use:   "mkdir DIR...",
		Short: "Make directories",
		Long:  "Make directories, all in one commit or none.",
		Example: `  vfsctl mkdir notes
  vfsctl mkdir -p logs/2026/11
  vfsctl mkdir -m 700 private`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			perm := fs.FileMode(0o755)
			if mode != "" {
				m, err := human.ParseMode(mode, perm)
				if err != nil {
					return cli.BadFlag(c.Cmd, "mode", err)
				}
				perm = m
			}

			return a.Update(c, func(tx *vfs.Tx) ([]string, error) {
				for _, name := range c.Args {
					if err := makeDir(tx, name, perm, parents, mode != ""); err != nil {
						return nil, err
					}
				}
				return c.Args, nil
			})
		}),
	}

	cmd.Flags().BoolVarP(&parents, "parents", "p", false, "those above too, and no error if it exists")
	cmd.Flags().StringVarP(&mode, "mode", "m", "", "the directory's `MODE` (default 755)")
	return cmd
}

// makeDir makes a directory. Missing directories above it get the default mode, even if its own is given.
func makeDir(tx *vfs.Tx, name string, perm fs.FileMode, parents, given bool) error {
	if !parents {
		return tx.Mkdir(name, perm)
	}
	_, err := tx.Stat(name)
	fresh := err != nil
	if err := tx.MkdirAll(name, 0o755); err != nil || !fresh || !given {
		return err
	}
	return tx.Chmod(name, perm)
}

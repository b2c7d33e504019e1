package files

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/vfs"
)

func rmCommand(a *cli.App) *cobra.Command {
	var recursive, force bool
	cmd := &cobra.Command{
		Use:   "rm PATH...",
		Short: "Remove files and directories",
		Long: `Remove files, symlinks and empty directories; with -r directories and all below, which takes the
same time whatever their size. All are removed in one commit, or none. Snapshots keep what they hold.`,
		Example: `  vfsctl rm old.txt
  vfsctl rm -r build dist
  vfsctl rm -f maybe-there`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			return a.Update(c, func(tx *vfs.Tx) (removed []string, err error) {
				for _, name := range c.Args {
					err := remove(tx, name, recursive)
					switch {
					case force && errors.Is(err, fs.ErrNotExist):
					case err != nil:
						return nil, err
					default:
						removed = append(removed, name)
					}
				}
				return removed, nil
			})
		}),
	}

	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "directories too, with all below")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "a missing name is no error")
	return cmd
}

// remove removes a file or an empty directory, and with recursive any directory.
func remove(tx *vfs.Tx, name string, recursive bool) error {
	err := tx.Remove(name)
	if recursive && errors.Is(err, syscall.ENOTEMPTY) {
		return tx.RemoveAll(name)
	}
	return err
}

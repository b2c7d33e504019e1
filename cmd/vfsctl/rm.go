package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func (a *app) rm() *cobra.Command {
	var recursive, force bool
	cmd := &cobra.Command{
		Use:   "rm PATH...",
		Short: "Remove files and directories",
		Long: `Remove files, symlinks and empty directories; with -r directories and all below, in a time
that does not depend on how much that is. All are removed in one commit, or none. Snapshots
keep what they hold.`,
		Example: `  vfsctl rm old.txt
  vfsctl rm -r build dist
  vfsctl rm -f maybe-there`,
		Args:              args(1, -1),
		ValidArgsFunction: a.completePaths,
		RunE: a.on(writes, func(c *call) error {
			return a.update(c, func(tx *vfs.Tx) ([]string, error) {
				for _, name := range c.args {
					if err := remove(tx, name, recursive, force); err != nil {
						return nil, err
					}
				}
				return c.args, nil
			})
		}),
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "directories too, with all below")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "what is not there need not be removed")
	return cmd
}

func remove(tx *vfs.Tx, name string, recursive, force bool) error {
	info, err := tx.Lstat(name)
	if err != nil {
		if force && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if recursive && info.IsDir() {
		return tx.RemoveAll(name)
	}
	return tx.Remove(name)
}

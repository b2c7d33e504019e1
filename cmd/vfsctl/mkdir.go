package main

import (
	"io/fs"

	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func mkdirCommand(a *app) *cobra.Command {
	var parents bool
	var mode string
	cmd := &cobra.Command{
		Use:   "mkdir DIR...",
		Short: "Make directories",
		Long:  "Make directories, all in one commit or none.",
		Example: `  vfsctl mkdir notes
  vfsctl mkdir -p logs/2026/11
  vfsctl mkdir -m 700 private`,
		Args:              args(1, -1),
		ValidArgsFunction: a.completePaths,
		RunE: a.on(writes, func(c *call) error {
			perm := fs.FileMode(0o755)
			if mode != "" {
				m, err := parseMode(mode, perm)
				if err != nil {
					return badFlag(c.cmd, "mode", err)
				}
				perm = m
			}
			return a.update(c, func(tx *vfs.Tx) ([]string, error) {
				for _, name := range c.args {
					if err := makeDir(tx, name, perm, parents, mode != ""); err != nil {
						return nil, err
					}
				}
				return c.args, nil
			})
		}),
	}
	cmd.Flags().BoolVarP(&parents, "parents", "p", false, "those above too, and no error if it exists")
	cmd.Flags().StringVarP(&mode, "mode", "m", "", "the directory's `MODE` (default 755)")
	return cmd
}

// makeDir makes a directory. Those above it that were missing have the usual mode, whatever its own.
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

package main

import (
	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func chmodCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "chmod MODE PATH...",
		Short: "Change permissions",
		Long: `Change the 12 permission bits. MODE is octal, or changes such as u+x, go-w, a=r. All files are
changed in one commit, or none. A mode that begins with a minus sign comes after --.`,
		Example: `  vfsctl chmod 755 run.sh
  vfsctl chmod u+x,go-w run.sh tools/build.sh
  vfsctl chmod -- -w frozen.txt`,
		Args:              args(2, -1),
		ValidArgsFunction: completeArgs(completeNothing, a.completePaths),
		RunE: a.on(writes, func(c *call) error {
			if _, err := parseMode(c.args[0], 0); err != nil {
				return usage(c.cmd, "%w", err)
			}
			return a.update(c, func(tx *vfs.Tx) ([]string, error) {
				for _, name := range c.args[1:] {
					info, err := tx.Stat(name)
					if err != nil {
						return nil, err
					}
					mode, err := parseMode(c.args[0], info.Mode())
					if err != nil {
						return nil, err
					}
					if err := tx.Chmod(name, mode); err != nil {
						return nil, err
					}
				}
				return c.args[1:], nil
			})
		}),
	}
}

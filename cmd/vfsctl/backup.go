package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
)

func backupCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "backup DEST",
		Short: "Copy the whole database while it is in use",
		Long: `Write a consistent and compact copy of the whole database, with all branches and snapshots, to
the new file DEST, while others read and write. It appears whole or not at all.`,
		Example: `  vfsctl backup /backups/agent-$(date +%F).db
  vfsctl --db copy.db check`,
		Args: args(1, 1),
		RunE: a.on(reads, func(c *call) error {
			start := time.Now()
			dest := c.args[0]
			if err := c.fsys.Backup(c, dest); err != nil {
				return err
			}
			info, err := os.Stat(dest)
			if err != nil {
				return err
			}
			if a.json {
				return a.out.json(struct {
					Dest string `json:"dest"`
					Size int64  `json:"size"`
				}{dest, info.Size()})
			}
			return a.errs.printf("copied %s to %s in %s\n", size(info.Size()), a.errs.name(dest), took(time.Since(start)))
		}),
	}
}

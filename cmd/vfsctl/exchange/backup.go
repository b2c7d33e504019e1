package exchange

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
)

func backupCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "backup DEST",
		Short: "Copy the whole database while it is in use",
		Long: `Write a consistent and compact copy of the whole database, with all branches and snapshots, to
the new file DEST, while others read and write. It appears whole or not at all.`,
		Example: `  vfsctl backup /backups/agent-$(date +%F).db
  vfsctl --db copy.db check`,
		Args: cli.Args(1, 1),
		RunE: a.OnStore(cli.Reads, func(c *cli.Call) error { return backup(a, c, c.Args[0]) }),
	}
}

func backup(a *cli.App, c *cli.Call, dest string) error {
	start := time.Now()
	if err := c.FS.Store().Backup(c, dest); err != nil {
		return err
	}
	info, err := os.Stat(dest)
	if err != nil {
		return err
	}

	if a.JSON {
		return a.Out.JSON(struct {
			Dest string `json:"dest"`
			Size int64  `json:"size"`
		}{dest, info.Size()})
	}
	return a.Errs.Printf("copied %s to %s in %s\n", human.Size(info.Size()), a.Errs.Name(dest), human.Took(time.Since(start)))
}

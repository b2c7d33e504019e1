package care

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

func initCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Create a database",
		Long: `Create a database with an empty tree on the branch main, in the working directory unless --db or $VFS_DB names
another place. If there is one already, nothing happens. One in a directory above is no longer found from here.`,
		Example: `  vfsctl init
  vfsctl --db /srv/agents/7.db init --json`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, args []string) error {
			hidden := a.Here()
			fresh := a.Absent()
			return a.OnStore(cli.Creates, func(c *cli.Call) error {
				if hidden != "" {
					a.Warn("commands in this directory no longer use %s", hidden)
				}
				return reportInit(a, c, fresh)
			})(cmd, args)
		},
	}
}

// reportInit reports the database, which is open now. fresh is true if it did not exist before.
func reportInit(a *cli.App, c *cli.Call, fresh bool) error {
	if !a.JSON {
		if fresh {
			return a.Errs.Printf("created %s\n", a.DB)
		}
		return a.Errs.Printf("%s is a database already\n", a.DB)
	}

	id, err := c.FS.Store().ID(c)
	if err != nil {
		return a.OfStore(err)
	}
	return a.Out.JSON(struct {
		DB      string `json:"db"`
		ID      string `json:"id"`
		Created bool   `json:"created"`
	}{a.DB, id, fresh})
}

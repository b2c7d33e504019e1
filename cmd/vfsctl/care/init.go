package care

import (
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
)

func initCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Create a database",
		Long:  "Create a database with an empty tree on the branch main. If there is one already, nothing happens.",
		Example: `  vfsctl init
  vfsctl --db /srv/agents/7.db init --json`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: func(cmd *cobra.Command, args []string) error {
			fresh := a.Absent()
			return a.OnStore(cli.Creates, func(c *cli.Call) error { return reportInit(a, c, fresh) })(cmd, args)
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

package main

import (
	"github.com/spf13/cobra"

	"vfsdb/schema"
)

func initCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Create a database",
		Long:  "Create a database with an empty tree on the branch main. If there is one already, nothing happens.",
		Example: `  vfsctl init
  vfsctl --db /srv/agents/7.db init --json`,
		Args:              args(0, 0),
		ValidArgsFunction: completeNothing,
		RunE: func(cmd *cobra.Command, args []string) error {
			fresh := a.absent()
			if fresh && !cmd.Flags().Changed("branch") {
				a.branch = "" // a new database has the branch main only, whatever the environment says
			}
			return a.on(creates, func(c *call) error {
				if !a.json {
					if fresh {
						return a.errs.printf("created %s\n", a.db)
					}
					return a.errs.printf("%s is a database already\n", a.db)
				}
				var id string
				err := c.fsys.DB().View(c, func(tx *schema.Tx) (err error) {
					id, err = tx.ID()
					return err
				})
				if err != nil {
					return a.ofStore(err)
				}
				return a.out.json(struct {
					DB      string `json:"db"`
					ID      string `json:"id"`
					Created bool   `json:"created"`
				}{a.db, id, fresh})
			})(cmd, args)
		},
	}
}

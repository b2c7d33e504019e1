package care

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
)

// An infoJSON is the result of info as JSON shows it.
type infoJSON struct {
	DB        string    `json:"db"`
	ID        string    `json:"id"`
	Format    int64     `json:"format"`
	Created   time.Time `json:"created"`
	Branches  int64     `json:"branches"`
	Snapshots int64     `json:"snapshots"`
	PageSize  int64     `json:"page_size"`
	Pages     int64     `json:"pages"`
	FileSize  int64     `json:"file_size"`
	WALSize   int64     `json:"wal_size"`
}

func infoCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Show the identity and size of the database",
		Long:  "Show the identity and the format of this database, and how many branches and snapshots it has.",
		Example: `  vfsctl info
  vfsctl info --json | jq -r .id`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.OnStore(cli.Reads, func(c *cli.Call) error {
			i, err := describe(a, c)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.Out.JSON(i)
			}

			return a.Out.Fields([][2]string{
				{"file", a.Out.Name(i.DB)},
				{"id", i.ID},
				{"format", fmt.Sprint(i.Format)},
				{"created", human.Moment(i.Created)},
				{"branches", human.Comma(i.Branches)},
				{"snapshots", human.Comma(i.Snapshots)},
				{"size", fmt.Sprintf("%s in %s pages of %s", human.Size(i.FileSize), human.Comma(i.Pages), human.Size(i.PageSize))},
				{"wal", human.Size(i.WALSize)},
			}...)
		}),
	}
}

// describe asks the store for its identity and its sizes.
func describe(a *cli.App, c *cli.Call) (infoJSON, error) {
	s, err := c.FS.Store().Stats(c)
	return infoJSON{
		DB: a.DB, ID: s.ID, Format: s.Format, Created: s.Created.UTC(), Branches: s.Branches, Snapshots: s.Snapshots,
		PageSize: s.PageSize, Pages: s.Pages, FileSize: s.FileSize, WALSize: s.LogSize,
	}, err
}

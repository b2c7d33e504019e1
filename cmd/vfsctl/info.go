package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// An infoJSON is what info tells.
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

func infoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Tell what this database is",
		Long:  "Tell what this database is: its identity and format, and how many branches and snapshots it has.",
		Example: `  vfsctl info
  vfsctl info --json | jq -r .id`,
		Args:              args(0, 0),
		ValidArgsFunction: completeNothing,
		RunE: a.on(reads, func(c *call) error {
			i, err := a.describe(c)
			if err != nil {
				return err
			}
			if a.json {
				return a.out.json(i)
			}
			for _, f := range [][2]string{
				{"file", a.out.name(i.DB)},
				{"id", i.ID},
				{"format", fmt.Sprint(i.Format)},
				{"created", moment(i.Created)},
				{"branches", comma(i.Branches)},
				{"snapshots", comma(i.Snapshots)},
				{"size", fmt.Sprintf("%s in %s pages of %s", size(i.FileSize), comma(i.Pages), size(i.PageSize))},
				{"wal", size(i.WALSize)},
			} {
				if err := a.out.field(f[0], f[1]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// describe asks the store what it is.
func (a *app) describe(c *call) (infoJSON, error) {
	s, err := c.fsys.Stats(c)
	return infoJSON{
		DB: a.db, ID: s.ID, Format: s.Format, Created: s.Created.UTC(), Branches: s.Branches, Snapshots: s.Snapshots,
		PageSize: s.PageSize, Pages: s.Pages, FileSize: s.FileSize, WALSize: s.LogSize,
	}, err
}

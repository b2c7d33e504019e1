package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/schema"
	"vfsdb/snapshot"
)

// An infoJSON is what info tells.
type infoJSON struct {
	DB        string    `json:"db"`
	ID        string    `json:"id"`
	Format    int64     `json:"format"`
	Created   time.Time `json:"created"`
	Branches  int       `json:"branches"`
	Snapshots int       `json:"snapshots"`
	PageSize  int64     `json:"page_size"`
	Pages     int64     `json:"pages"`
	FileSize  int64     `json:"file_size"`
	WALSize   int64     `json:"wal_size"`
}

func (a *app) info() *cobra.Command {
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
				{"branches", comma(int64(i.Branches))},
				{"snapshots", comma(int64(i.Snapshots))},
				{"size", fmt.Sprintf("%s in %s pages of %s", size(i.FileSize), comma(i.Pages), size(i.PageSize))},
				{"log", size(i.WALSize)},
			} {
				if err := a.field(f[0], f[1]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

func (a *app) describe(c *call) (infoJSON, error) {
	i := infoJSON{DB: a.db, PageSize: schema.PageSize, FileSize: fileSize(a.db), WALSize: fileSize(a.db + "-wal")}
	err := c.fsys.DB().View(c, func(tx *schema.Tx) (err error) {
		if i.ID, err = tx.ID(); err != nil {
			return err
		}
		if i.Format, _, err = tx.Int(`PRAGMA user_version`); err != nil {
			return err
		}
		created, _, err := tx.Int(`SELECT value FROM meta WHERE key = 'created'`)
		if err != nil {
			return err
		}
		i.Created = time.Unix(0, created).UTC()
		i.Pages, _, err = tx.Pages()
		return err
	})
	if err != nil {
		return i, err
	}
	branches, err := c.fsys.Branches(c)
	if err != nil {
		return i, err
	}
	snapshots, err := snapshot.List(c, c.fsys)
	i.Branches, i.Snapshots = len(branches), len(snapshots)
	return i, err
}

// fileSize is the size of a file of the host; 0 if it is not there.
func fileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"vfsdb/schema"
)

// A dfJSON is what df tells.
type dfJSON struct {
	FileSize  int64 `json:"file_size"`
	WALSize   int64 `json:"wal_size"`
	PageSize  int64 `json:"page_size"`
	Pages     int64 `json:"pages"`
	FreePages int64 `json:"free_pages"`
	Blobs     int64 `json:"blobs"`
	Stored    int64 `json:"stored_bytes"`  // of blobs, as they are on disk
	Content   int64 `json:"content_bytes"` // of blobs, as they are read
	Manifests int64 `json:"manifests"`
	Versions  int64 `json:"file_versions"`
	Logical   int64 `json:"logical_bytes"` // of all file versions, holes included
}

func (a *app) df() *cobra.Command {
	return &cobra.Command{
		Use:   "df",
		Short: "Show what the database takes on disk",
		Long: `Show what the database takes on disk, and for how much. Logical is what all versions of all files
in all branches and snapshots would take apart; stored is what they take together, because
equal chunks are stored once and holes not at all. gc gives back what is free.`,
		Example: `  vfsctl df
  vfsctl df --json | jq .stored_bytes`,
		Args:              args(0, 0),
		ValidArgsFunction: completeNothing,
		RunE: a.on(reads, func(c *call) error {
			d, err := a.space(c)
			if err != nil {
				return err
			}
			if a.json {
				return a.out.json(d)
			}
			for _, f := range [][2]string{
				{"file", size(d.FileSize)},
				{"log", size(d.WALSize)},
				{"free", fmt.Sprintf("%s in %s of %s pages", size(d.FreePages*d.PageSize), comma(d.FreePages), comma(d.Pages))},
				{"stored", fmt.Sprintf("%s in %s, %s", size(d.Stored), plural(d.Blobs, "blob", "blobs"), plural(d.Manifests, "manifest", "manifests"))},
				{"logical", fmt.Sprintf("%s in %s", size(d.Logical), plural(d.Versions, "file version", "file versions"))},
			} {
				if err := a.field(f[0], f[1]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

func (a *app) space(c *call) (dfJSON, error) {
	d := dfJSON{PageSize: schema.PageSize, FileSize: fileSize(a.db), WALSize: fileSize(a.db + "-wal")}
	err := c.fsys.DB().View(c, func(tx *schema.Tx) (err error) {
		if d.Pages, d.FreePages, err = tx.Pages(); err != nil {
			return err
		}
		for _, q := range []struct {
			into *int64
			text string
		}{
			{&d.Blobs, `SELECT count(*) FROM blob`},
			{&d.Stored, `SELECT coalesce(sum(length(data)), 0) FROM blob`},
			{&d.Content, `SELECT coalesce(sum(size), 0) FROM blob`},
			{&d.Manifests, `SELECT count(*) FROM manifest`},
			{&d.Versions, `SELECT count(*) FROM inode WHERE mode & 61440 = 32768`},
			{&d.Logical, `SELECT coalesce(sum(size), 0) FROM inode WHERE mode & 61440 = 32768`},
		} {
			if *q.into, _, err = tx.Int(q.text); err != nil {
				return err
			}
		}
		return nil
	})
	return d, err
}

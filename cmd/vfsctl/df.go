package main

import (
	"fmt"

	"github.com/spf13/cobra"
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

func dfCommand(a *app) *cobra.Command {
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
				{"wal", size(d.WALSize)},
				{"free", fmt.Sprintf("%s in %s of %s pages", size(d.FreePages*d.PageSize), comma(d.FreePages), comma(d.Pages))},
				{"stored", fmt.Sprintf("%s in %s, %s", size(d.Stored), plural(d.Blobs, "blob", "blobs"), plural(d.Manifests, "manifest", "manifests"))},
				{"logical", fmt.Sprintf("%s in %s", size(d.Logical), plural(d.Versions, "file version", "file versions"))},
			} {
				if err := a.out.field(f[0], f[1]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// space asks the store what it takes.
func (a *app) space(c *call) (dfJSON, error) {
	s, err := c.fsys.Stats(c)
	return dfJSON{
		FileSize: s.FileSize, WALSize: s.LogSize, PageSize: s.PageSize, Pages: s.Pages, FreePages: s.FreePages,
		Blobs: s.Blobs, Stored: s.Stored, Content: s.Content, Manifests: s.Manifests, Versions: s.Versions, Logical: s.Logical,
	}, err
}

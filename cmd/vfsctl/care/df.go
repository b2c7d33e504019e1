package care

import (
	"fmt"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
)

// A dfJSON is the result of df as JSON shows it.
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

func dfCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "df",
		Short: "Show the space that the database takes on disk",
		Long: `Show the space that the database takes on disk, and the size of the content in it. Logical is the
size of all versions of all files in all branches and snapshots. Stored is the space that they take together:
equal chunks are stored once, and holes not at all. gc returns free space to the host.`,
		Example: `  vfsctl df
  vfsctl df --json | jq .stored_bytes`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.OnStore(cli.Reads, func(c *cli.Call) error {
			d, err := space(c)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.Out.JSON(d)
			}

			return a.Out.Fields([][2]string{
				{"file", human.Size(d.FileSize)},
				{"wal", human.Size(d.WALSize)},
				{"free", fmt.Sprintf("%s in %s of %s pages", human.Size(d.FreePages*d.PageSize), human.Comma(d.FreePages), human.Comma(d.Pages))},
				{"stored", fmt.Sprintf("%s in %s, %s", human.Size(d.Stored), human.Plural(d.Blobs, "blob", "blobs"), human.Plural(d.Manifests, "manifest", "manifests"))},
				{"logical", fmt.Sprintf("%s in %s", human.Size(d.Logical), human.Plural(d.Versions, "file version", "file versions"))},
			}...)
		}),
	}
}

// space measures the database.
func space(c *cli.Call) (dfJSON, error) {
	s, err := c.FS.Store().Stats(c)
	return dfJSON{
		FileSize: s.FileSize, WALSize: s.LogSize, PageSize: s.PageSize, Pages: s.Pages, FreePages: s.FreePages,
		Blobs: s.Blobs, Stored: s.Stored, Content: s.Content, Manifests: s.Manifests, Versions: s.Versions, Logical: s.Logical,
	}, err
}

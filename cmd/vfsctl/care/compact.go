package care

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/gc"
	"vfsdb/schema"
)

func compactCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Compress what is stored, and make the file smaller",
		Long: `Compress what is stored since the last compact, and give the space back. The content of files stays
the same and is verified as before. Compressed content takes longer to read. Others may read and write
meanwhile.

It works in small steps: an interrupted run keeps what it did, and the next one continues there. Run gc first,
so that it compresses nothing that could be deleted.`,
		Example: `  vfsctl gc && vfsctl compact
  vfsctl compact --json | jq .after`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.OnStore(cli.Writes, func(c *cli.Call) error {
			start := time.Now()
			bar := a.Progress(c, "compact", 1)
			r, err := gc.Compact(c, c.FS, &gc.CompactOptions{Progress: bar.Step})
			bar.End()
			if err != nil {
				return err
			}
			if err := printCompacted(a, r, time.Since(start)); err != nil || r.Damaged == 0 {
				return err
			}
			a.Warn("%s cannot be read: vfsctl check names the files that they touch", human.Plural(r.Damaged, "blob", "blobs"))
			return cli.ExitDamage
		}),
	}
}

func printCompacted(a *cli.App, r *gc.CompactReport, d time.Duration) error {
	returned := r.Pages * schema.PageSize
	if a.JSON {
		return a.Out.JSON(struct {
			Blobs    int64 `json:"blobs"`
			Packs    int64 `json:"packs"`
			Plain    int64 `json:"plain"`
			Damaged  int64 `json:"damaged"`
			Before   int64 `json:"before"`
			After    int64 `json:"after"`
			Returned int64 `json:"returned_bytes"`
		}{r.Blobs, r.Packs, r.Plain, r.Damaged, r.Before, r.After, returned})
	}
	what := fmt.Sprintf("compressed %s from %s to %s", human.Plural(r.Blobs, "blob", "blobs"), human.Size(r.Before), human.Size(r.After))
	if r.Pages > 0 {
		what += "; the file is " + human.Size(returned) + " smaller"
	}
	return a.Out.Printf("%s in %s\n", what, human.Took(d))
}

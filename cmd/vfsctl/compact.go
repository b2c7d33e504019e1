package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/gc"
	"vfsdb/schema"
)

func compactCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Compress what is stored, and make the file smaller",
		Long: `Compress what is stored since the last compact, and give the space back. Files hold what they held, and
are verified as before; what is compressed takes longer to read. Others may read and write meanwhile.

It goes in small steps: an interrupted one keeps what it did, and the next one goes on from there. Run gc
before it, so that nothing is compressed that could be thrown away.`,
		Example: `  vfsctl gc && vfsctl compact
  vfsctl compact --json | jq .after`,
		Args:              args(0, 0),
		ValidArgsFunction: completeNothing,
		RunE: a.on(writes, func(c *call) error {
			start := time.Now()
			bar := a.progress(c, "compact", 1)
			r, err := gc.Compact(c, c.fsys, &gc.CompactOptions{Progress: bar.step})
			bar.end()
			if err != nil {
				return err
			}
			if err := a.printCompacted(r, time.Since(start)); err != nil || r.Damaged == 0 {
				return err
			}
			a.warn("%s cannot be read: vfsctl check tells which files they touch", plural(r.Damaged, "blob", "blobs"))
			return exitDamage
		}),
	}
}

func (a *app) printCompacted(r *gc.CompactReport, d time.Duration) error {
	returned := r.Pages * schema.PageSize
	if a.json {
		return a.out.json(struct {
			Blobs    int64 `json:"blobs"`
			Packs    int64 `json:"packs"`
			Plain    int64 `json:"plain"`
			Damaged  int64 `json:"damaged"`
			Before   int64 `json:"before"`
			After    int64 `json:"after"`
			Returned int64 `json:"returned_bytes"`
		}{r.Blobs, r.Packs, r.Plain, r.Damaged, r.Before, r.After, returned})
	}
	what := fmt.Sprintf("compressed %s from %s to %s", plural(r.Blobs, "blob", "blobs"), size(r.Before), size(r.After))
	if r.Pages > 0 {
		what += "; the file is " + size(returned) + " smaller"
	}
	return a.out.printf("%s in %s\n", what, took(d))
}

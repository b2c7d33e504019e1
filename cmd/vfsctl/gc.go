package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/gc"
	"vfsdb/schema"
)

func gcCommand(a *app) *cobra.Command {
	var dry bool
	var keep int64
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Give back the space of what nothing reaches",
		Long: `Give back the space of what no branch, snapshot or open file reaches any more. It goes in small steps
while others read and write, and an interrupted one is taken up by the next.`,
		Example: `  vfsctl gc --dry-run
  vfsctl gc
  vfsctl gc --keep-changes 10000
  vfsctl gc --json | jq .bytes`,
		Args:              args(0, 0),
		ValidArgsFunction: completeNothing,
		RunE: a.on(writes, func(c *call) error {
			if keep == 0 || keep < -1 {
				return usage(c.cmd, "--keep-changes is a number from 1, or -1 for all")
			}
			start := time.Now()
			bar := a.progress(c, "gc", 0)
			r, err := gc.Run(c, c.fsys, &gc.Options{DryRun: dry, KeepChanges: keep})
			bar.end()
			if err != nil {
				return err
			}
			return a.printFreed(r, dry, time.Since(start))
		}),
	}
	cmd.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would go")
	cmd.Flags().Int64Var(&keep, "keep-changes", gc.DefaultKeepChanges, "keep the newest `N` changes, and calls, of the log; -1 for all")
	return cmd
}

func (a *app) printFreed(r *gc.Report, dry bool, d time.Duration) error {
	if a.json {
		return a.out.json(struct {
			DryRun    bool  `json:"dry_run"`
			Orphans   int64 `json:"orphans"`
			Rows      int64 `json:"rows"`
			Branches  int64 `json:"branches"`
			Changes   int64 `json:"changes"`
			Calls     int64 `json:"calls"`
			Manifests int64 `json:"manifests"`
			Blobs     int64 `json:"blobs"`
			Bytes     int64 `json:"bytes"`
			Returned  int64 `json:"returned_bytes"`
		}{dry, r.Orphans, r.Rows, r.Branches, r.Changes, r.Calls, r.Manifests, r.Blobs, r.Bytes, r.Pages * schema.PageSize})
	}
	return a.out.printf("%s in %s\n", freed(r, dry), took(d))
}

// freed says what a collection gave back, or would.
func freed(r *gc.Report, dry bool) string {
	what := fmt.Sprintf("%s, %s, %s with %s", plural(r.Orphans, "orphan", "orphans"), plural(r.Rows, "row", "rows"),
		plural(r.Blobs, "blob", "blobs"), size(r.Bytes))
	if r.Changes > 0 {
		what += ", " + plural(r.Changes, "change", "changes") + " of the log"
	}
	switch {
	case dry:
		return "would free " + what
	case r.Pages > 0:
		return fmt.Sprintf("freed %s; the file is %s smaller", what, size(r.Pages*schema.PageSize))
	}
	return "freed " + what
}

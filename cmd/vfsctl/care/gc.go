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

func gcCommand(a *cli.App) *cobra.Command {
	var dry bool
	var keep int64
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Free the space of content that nothing reaches",
		Long: `Free the space of content that no branch, snapshot or open file reaches any more. It works in small
steps while others read and write. The next run continues an interrupted one. --dry-run does not count what only
the record of a merge keeps, and gc frees that too once the record serves no more.`,
		Example: `  vfsctl gc --dry-run
  vfsctl gc
  vfsctl gc --keep-changes 10000
  vfsctl gc --json | jq .bytes`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.OnStore(cli.Writes, func(c *cli.Call) error {
			if keep == 0 || keep < -1 {
				return cli.Usage(c.Cmd, "--keep-changes is a number from 1, or -1 for all")
			}

			start := time.Now()
			bar := a.Progress(c, "gc", 0)
			r, err := gc.Run(c, c.FS, &gc.Options{DryRun: dry, KeepChanges: keep})
			bar.End()
			if err != nil {
				return err
			}
			return printFreed(a, r, dry, time.Since(start))
		}),
	}

	cmd.Flags().BoolVarP(&dry, "dry-run", "n", false, "only report what would be freed")
	cmd.Flags().Int64Var(&keep, "keep-changes", gc.DefaultKeepChanges, "keep the newest `N` changes, and calls, of the log; -1 for all")
	return cmd
}

func printFreed(a *cli.App, r *gc.Report, dry bool, d time.Duration) error {
	if a.JSON {
		return a.Out.JSON(struct {
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
	return a.Out.Printf("%s in %s\n", Freed(r, dry), human.Took(d))
}

// Freed describes the result of a collection, or of a dry run.
func Freed(r *gc.Report, dry bool) string {
	what := fmt.Sprintf("%s, %s, %s with %s", human.Plural(r.Orphans, "orphan", "orphans"), human.Plural(r.Rows, "row", "rows"),
		human.Plural(r.Blobs, "blob", "blobs"), human.Size(r.Bytes))
	if r.Changes > 0 {
		what += ", " + human.Plural(r.Changes, "change", "changes") + " of the log"
	}
	switch {
	case dry:
		return "would free " + what
	case r.Pages > 0:
		return fmt.Sprintf("freed %s; the file is %s smaller", what, human.Size(r.Pages*schema.PageSize))
	}
	return "freed " + what
}

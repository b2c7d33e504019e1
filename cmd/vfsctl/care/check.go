package care

import (
	"time"

	"github.com/spf13/cobra"

	"vfsdb/check"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/purge"
)

func checkCommand(a *cli.App) *cobra.Command {
	var quick bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look for damage",
		Long: `Look at the whole database, all branches and snapshots, and hash every chunk. Each fault is a line
that names what it touches, and the exit code is then 13. The database may be in use meanwhile.`,
		Example: `  vfsctl check
  vfsctl check --quick
  vfsctl check --json | jq '.faults[]'`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE: a.OnStore(cli.Reads, func(c *cli.Call) error {
			start := time.Now()
			bar := a.Progress(c, "check", cli.FileSize(a.DB))
			r, err := check.Run(c, c.FS, &check.Options{Quick: quick, Progress: bar.Step})
			bar.End()
			if err != nil {
				return err
			}

			if err := printCheck(a, r, time.Since(start)); err != nil {
				return err
			}
			if _, unfinished, err := purge.Unfinished(c, c.FS); err != nil {
				return err
			} else if unfinished {
				a.Warn("a purge is not finished: %s", a.Invoke("purge", "--everywhere", "--yes"))
			}
			if len(r.Faults) > 0 {
				return cli.ExitDamage
			}
			return nil
		}),
	}

	cmd.Flags().BoolVar(&quick, "quick", false, "do not read and hash the chunks")
	return cmd
}

// A checkJSON is the result of check as JSON shows it.
type checkJSON struct {
	OK        bool        `json:"ok"`
	Faults    []faultJSON `json:"faults"`
	Branches  int64       `json:"branches"`
	Snapshots int64       `json:"snapshots"`
	Inodes    int64       `json:"inodes"`
	Blobs     int64       `json:"blobs"`
	Manifests int64       `json:"manifests"`
	Bytes     int64       `json:"bytes"`
}

type faultJSON struct {
	What     string `json:"what"`
	Branch   string `json:"branch,omitempty"`
	Snapshot string `json:"snapshot,omitempty"`
	Path     string `json:"path,omitempty"`
	Base64   string `json:"path_base64,omitempty"`
}

// printCheck prints each fault, and then the verdict with the counts.
func printCheck(a *cli.App, r *check.Report, d time.Duration) error {
	if a.JSON {
		report := checkJSON{
			OK: len(r.Faults) == 0, Faults: []faultJSON{}, Branches: r.Branches, Snapshots: r.Snapshots,
			Inodes: r.Inodes, Blobs: r.Blobs, Manifests: r.Manifests, Bytes: r.Bytes,
		}
		for _, f := range r.Faults {
			report.Faults = append(report.Faults, faultJSON{f.What, f.Branch, f.Snapshot, f.Path, human.Base64(f.Path)})
		}
		return a.Out.JSON(report)
	}

	for _, f := range r.Faults {
		if err := a.Out.Printf("%s\n", a.Out.Paint(term.Red, human.Escape(f.String()))); err != nil {
			return err
		}
	}

	verdict := a.Out.Paint(term.Green, "sound")
	if n := int64(len(r.Faults)); n > 0 {
		verdict = a.Out.Paint(term.Red, human.Plural(n, "fault", "faults"))
	}
	return a.Out.Printf("%s: %s, %s, %s, %s in %s\n", verdict, human.Plural(r.Branches, "branch", "branches"),
		human.Plural(r.Snapshots, "snapshot", "snapshots"), human.Plural(r.Inodes, "inode", "inodes"), human.Size(r.Bytes), human.Took(d))
}

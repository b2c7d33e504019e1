package main

import (
	"time"

	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func checkCommand(a *app) *cobra.Command {
	var quick bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look for damage",
		Long: `Look at the whole database, all branches and snapshots, and hash every chunk. Each fault is a line
that names what it touches, and the exit code is then 13. The database may be in use meanwhile.`,
		Example: `  vfsctl check
  vfsctl check --quick
  vfsctl check --json | jq '.faults[]'`,
		Args:              args(0, 0),
		ValidArgsFunction: completeNothing,
		RunE: a.on(reads, func(c *call) error {
			start := time.Now()
			bar := a.progress(c, "check", fileSize(a.db))
			r, err := vfs.Check(c, c.fsys, &vfs.CheckOptions{Quick: quick, Progress: bar.step})
			bar.end()
			if err != nil {
				return err
			}
			if err := a.printCheck(r, time.Since(start)); err != nil {
				return err
			}
			if len(r.Faults) > 0 {
				return exitDamage
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "do not read and hash the chunks")
	return cmd
}

// A checkJSON is what check tells.
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

func (a *app) printCheck(r *vfs.CheckReport, d time.Duration) error {
	if a.json {
		report := checkJSON{
			OK: len(r.Faults) == 0, Faults: []faultJSON{}, Branches: r.Branches, Snapshots: r.Snapshots,
			Inodes: r.Inodes, Blobs: r.Blobs, Manifests: r.Manifests, Bytes: r.Bytes,
		}
		for _, f := range r.Faults {
			report.Faults = append(report.Faults, faultJSON{f.What, f.Branch, f.Snapshot, f.Path, base64Name(f.Path)})
		}
		return a.out.json(report)
	}
	for _, f := range r.Faults {
		if err := a.out.printf("%s\n", a.out.paint(red, printable(f.String()))); err != nil {
			return err
		}
	}
	verdict := a.out.paint(green, "sound")
	if n := int64(len(r.Faults)); n > 0 {
		verdict = a.out.paint(red, plural(n, "fault", "faults"))
	}
	return a.out.printf("%s: %s, %s, %s, %s in %s\n", verdict, plural(r.Branches, "branch", "branches"),
		plural(r.Snapshots, "snapshot", "snapshots"), plural(r.Inodes, "inode", "inodes"), size(r.Bytes), took(d))
}

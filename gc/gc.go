package gc

import (
	"context"
	"fmt"
	"time"

	"vfsdb/vfs"
)

// Options say how to collect. A nil *Options is the zero value: everything that can go.
type Options struct {
	// DryRun counts what a collection would free and changes nothing. In a store that others write to meanwhile the
	// figures are near the truth, no more. It works on a store that is open read-only.
	DryRun bool

	// KeepChanges is how many of the newest changes of the log stay, and of the newest calls; 0 means
	// [DefaultKeepChanges], less than 0 all.
	KeepChanges int64
}

// DefaultKeepChanges is how many changes, and calls, a collection leaves.
const DefaultKeepChanges = 1_000_000

// A Report says what a collection freed, or with DryRun would free.
type Report struct {
	Orphans   int64 // inodes that had lost their names, and what was below them
	Rows      int64 // of entries and inodes, that no tree showed any more
	Branches  int64 // that were dropped, and of which nothing is left
	Changes   int64 // of the log, the oldest
	Calls     int64
	Manifests int64
	Blobs     int64
	Bytes     int64 // that those blobs took, or of their content, if they were in packs
	Pages     int64 // given back to the file system; a DryRun does not know

	Steps       int           // transactions that wrote
	LongestStep time.Duration // the longest time that one held the write lock
}

// Run collects once. It fails with EBUSY while another collection of the same file runs, in whatever process; one whose
// process has died is taken over. It waits for processes that have files open, to be told which: a second or two, or up
// to a minute if one of them is suspended. When ctx ends, or a read fails, it stops between two steps; the report then
// tells what was done so far.
func Run(ctx context.Context, fsys *vfs.FS, options *Options) (*Report, error) {
	var o Options
	if options != nil {
		o = *options
	}
	if o.KeepChanges == 0 {
		o.KeepChanges = DefaultKeepChanges
	}
	c := &collector{fsys: fsys, db: fsys.DB(), report: &Report{}, keepChanges: o.KeepChanges}
	run := c.run
	if o.DryRun {
		run = c.forecast
	}
	if err := run(ctx); err != nil {
		return c.report, fmt.Errorf("gc: %w", err)
	}
	return c.report, nil
}

package gc

import (
	"context"
	"fmt"
	"time"

	"vfsdb/tree"
	"vfsdb/vfs"
)

// Options control a collection. A nil *Options is the zero value: all garbage goes.
type Options struct {
	// DryRun counts the garbage that a collection would free, and changes nothing. In a store that others write to
	// meanwhile the figures are close, not exact. It works on a store that is open read-only.
	DryRun bool

	// KeepChanges is how many of the newest changes of the log stay, and how many of the newest calls. 0 means
	// [DefaultKeepChanges], and less than 0 all.
	KeepChanges int64
}

// DefaultKeepChanges is how many changes, and calls, a collection leaves.
const DefaultKeepChanges = 1_000_000

// A Report counts the garbage that a collection freed, or with DryRun would free.
type Report struct {
	Orphans   int64 // inodes that had lost their names, and those below them
	Rows      int64 // of entries and inodes that no tree showed any more
	Branches  int64 // that were dropped, and have no rows left
	Changes   int64 // of the log, the oldest
	Calls     int64
	Manifests int64
	Blobs     int64
	Bytes     int64 // that those blobs took in the file; of a blob in a pack, the size of its content
	Pages     int64 // given back to the file system; 0 of a DryRun

	Steps       int           // transactions that wrote
	LongestStep time.Duration // the longest time that one held the write lock
}

// Run collects once. It fails with EBUSY while another collection of the same file runs, in this process or another; a
// collection whose process has died is taken over. Run waits until each process with open files has published what
// those need: a second or two, or up to a minute if a process is suspended. When ctx ends, or a read fails, it stops
// between two steps, and the report counts the work done until then.
func Run(ctx context.Context, fsys *vfs.FS, options *Options) (*Report, error) {
	var o Options
	if options != nil {
		o = *options
	}
	if o.KeepChanges == 0 {
		o.KeepChanges = DefaultKeepChanges
	}
	c := &collector{fsys: fsys, db: (*tree.Tree)(fsys).DB(), report: &Report{}, keepChanges: o.KeepChanges}
	run := c.run
	if o.DryRun {
		run = c.forecast
	}
	if err := run(ctx); err != nil {
		return c.report, fmt.Errorf("gc: %w", err)
	}
	return c.report, nil
}

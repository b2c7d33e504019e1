package gc

import (
	"context"
	"fmt"

	"vfsdb/hold"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Options control a collection. A nil *Options is the zero value: all garbage goes.
type Options struct {
	// DryRun counts the garbage that a collection would free, and changes nothing. In a store that others write to
	// meanwhile the figures are close, not exact. A collection first drops the notes of merges that serve no more;
	// what only these keep is not in the figures. It works on a store that is open read-only.
	DryRun bool

	// KeepChanges is how many of the newest changes of the log stay, and how many of the newest calls. 0 means
	// [DefaultKeepChanges], and less than 0 all.
	KeepChanges int64
}

// DefaultKeepChanges is how many changes, and calls, a collection leaves.
const DefaultKeepChanges = 1_000_000

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

// run is the whole collection.
func (c *collector) run(ctx context.Context) (err error) {
	if err := c.db.View(ctx, sound); err != nil {
		return err
	}
	phase, err := c.take(ctx)
	if err != nil {
		return err
	}
	defer func() { err = c.release(ctx, err) }()

	// A collection before us has marked and doomed. Everything that happened since is in touched.
	if phase == hold.Sweeping {
		if err := c.db.View(ctx, checkDoomed); err != nil {
			return err
		}
		if err := c.sweep(ctx); err != nil {
			return err
		}
	}

	for _, part := range []func(context.Context) error{c.barrier, c.reap, c.trim, c.mark, c.doom, c.sweep, c.vacuum} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sound refuses a file in which an index disagrees with a table that says which content is kept. Content that the
// damaged index hides would be deleted.
func sound(tx *schema.Tx) error {
	return tx.Sound("branch", "lineage", "snapshot", "merge", "lease", "pin")
}

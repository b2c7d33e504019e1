package gc

import (
	"context"
	"time"

	"vfsdb/tree"
	"vfsdb/vfs"
)

// ErrKill, returned by the hook of RunHooked, stops a collection as kill -9 would: it cleans up nothing.
var ErrKill = errKill

// RunHooked is Run, but calls after behind each of its steps.
func RunHooked(ctx context.Context, fsys *vfs.FS, after func(step string) error) (*Report, error) {
	c := &collector{fsys: fsys, db: (*tree.Tree)(fsys).DB(), report: &Report{}, after: after}
	err := c.run(ctx)
	return c.report, err
}

// RunMeasured is Run, and returns how long each step held the write lock.
func RunMeasured(ctx context.Context, fsys *vfs.FS) (*Report, map[string][]time.Duration, error) {
	held := make(map[string][]time.Duration)
	c := &collector{fsys: fsys, db: (*tree.Tree)(fsys).DB(), report: &Report{}}
	steps := 0
	c.after = func(step string) error {
		if c.report.Steps > steps { // it wrote
			steps = c.report.Steps
			held[step] = append(held[step], c.last)
		}
		return nil
	}
	err := c.run(ctx)
	return c.report, held, err
}

// CompactHooked is Compact, but calls after behind each of its steps, with how long that held the write lock.
func CompactHooked(ctx context.Context, fsys *vfs.FS, after func(step string, held time.Duration) error) (*CompactReport, error) {
	c := &compactor{collector: collector{fsys: fsys, db: (*tree.Tree)(fsys).DB(), report: &Report{}}}
	c.after = func(step string) error { return after(step, c.last) }
	err := c.run(ctx)
	return c.finish(), err
}

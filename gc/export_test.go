package gc

import (
	"context"

	"vfsdb/vfs"
)

// ErrKill, returned by the hook of RunHooked, stops a collection as kill -9 would: it cleans up nothing.
var ErrKill = errKill

// RunHooked is Run, but calls after behind each of its steps.
func RunHooked(ctx context.Context, fsys *vfs.FS, after func(step string) error) (*Report, error) {
	c := &collector{fsys: fsys, db: fsys.DB(), report: &Report{}, after: after}
	err := c.run(ctx)
	return c.report, err
}

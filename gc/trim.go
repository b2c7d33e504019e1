package gc

import (
	"context"

	"vfsdb/tree"
)

// trim deletes the oldest changes and calls.
func (c *collector) trim(ctx context.Context) error {
	if c.keepChanges < 0 {
		return nil
	}
	t := (*tree.Tree)(c.fsys).Store().Journal().NewTrimmer(c.keepChanges, false)
	var count int64
	step := func(ctx context.Context, limit int) (ReapStep, error) {
		did, err := t.Step(ctx, limit)
		return ReapStep(did), err
	}
	err := c.reapAll(ctx, "history", &count, step)
	c.report.Changes, c.report.Calls = t.Changes, t.Calls
	return err
}

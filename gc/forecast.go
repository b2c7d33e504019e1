package gc

import (
	"context"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/schema"
	"vfsdb/tree"
)

// forecast counts the garbage that run would free. It only reads, so it needs no barrier and no grace.
func (c *collector) forecast(ctx context.Context) error {
	reap, err := ForecastReap(ctx, (*tree.Tree)(c.fsys))
	if err != nil {
		return err
	}
	c.report.Orphans, c.report.Rows, c.report.Branches = reap.Orphans, reap.Rows, reap.Branches

	if c.keepChanges >= 0 {
		history := (*tree.Tree)(c.fsys).Store().Journal().NewTrimmer(c.keepChanges, true)
		if _, err := history.Step(ctx, 0); err != nil {
			return err
		}
		c.report.Changes, c.report.Calls = history.Changes, history.Calls
	}

	// Mark the rows that would be left, and count the content that is not marked.
	if err := c.limits(ctx); err != nil {
		return err
	}
	if err := c.markRows(ctx, reap.Keeps); err != nil {
		return err
	}
	err = c.unmarked(ctx, hold.Manifest, func(ids []int64) error {
		c.report.Manifests += int64(len(ids))
		return nil
	})
	if err != nil {
		return err
	}
	return c.unmarked(ctx, hold.Blob, func(ids []int64) error {
		c.report.Blobs += int64(len(ids))
		return c.db.View(ctx, func(tx *schema.Tx) error {
			for _, id := range ids {
				size, err := chunk.StoredSize(tx, id)
				if err != nil {
					return err
				}
				c.report.Bytes += size
			}
			return nil
		})
	})
}

package gc

import (
	"context"

	"vfsdb/history"
	"vfsdb/hold"
	"vfsdb/schema"
	"vfsdb/tree"
)

// barrier makes every transaction from now on note the content that it refers to. It is committed before any other
// read.
func (c *collector) barrier(ctx context.Context) error {
	return c.owned(ctx, "barrier", func(tx *schema.Tx) error { return reset(tx, hold.Marking) })
}

// reap removes orphans from the heads, and deletes rows that no epoch shows.
func (c *collector) reap(ctx context.Context) error {
	through, err := c.grace(ctx, "grace for orphans")
	if err != nil {
		return err
	}

	orphans := NewOrphanReaper((*tree.Tree)(c.fsys), through)
	if err := c.reapAll(ctx, "orphans", &c.report.Orphans, orphans.Step); err != nil {
		return err
	}
	if err := c.dropMerges(ctx); err != nil {
		return err
	}
	rows := NewRowReaper((*tree.Tree)(c.fsys))
	err = c.reapAll(ctx, "rows", &c.report.Rows, rows.Step)
	c.report.Branches += int64(rows.Branches)
	return err
}

// dropMerges deletes the notes of merges that can serve no more. They are few, and keep the rows of moments.
func (c *collector) dropMerges(ctx context.Context) error {
	some := false
	err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
		some, err = history.MergesToDrop(tx)
		return err
	})
	if err != nil || !some {
		return err
	}
	return c.owned(ctx, "merges", func(tx *schema.Tx) error {
		_, err := history.DropMerges(tx)
		return err
	})
}

// reapAll runs one step after the other until a step is done.
func (c *collector) reapAll(ctx context.Context, name string, count *int64, step func(context.Context, int) (ReapStep, error)) error {
	size := batch{n: 32, least: 8, most: 4096}
	for {
		if err := c.pause(ctx); err != nil {
			return err
		}
		did, err := step(ctx, size.n)
		if err != nil {
			return err
		}
		*count += int64(did.Count)
		if did.Done {
			return nil
		}

		if did.Held > 0 {
			c.held(did.Held)
			size.took(did.Held)
			if err := c.tell(name); err != nil {
				return err
			}
		}
		if err := c.heartbeat(ctx); err != nil {
			return err
		}
	}
}

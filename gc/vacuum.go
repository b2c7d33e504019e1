package gc

import (
	"context"

	"vfsdb/schema"
)

// vacuum gives free pages back to the file system, those of this collection and any others.
func (c *collector) vacuum(ctx context.Context) error {
	var before, free int64
	err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
		_, free, err = tx.Pages()
		return err
	})
	if err != nil {
		return err
	}

	size := batch{n: 64, least: 16, most: 1024}
	for before = free + 1; free > 0 && free < before; {
		before = free
		err := c.timed(ctx, &size, "vacuum", func(tx *schema.Tx) (err error) {
			free, err = tx.Vacuum(size.n)
			return err
		})
		if err != nil {
			return err
		}
		c.report.Pages += max(0, before-free)
	}

	_, err = c.db.Checkpoint(ctx)
	return err
}

package gc

import (
	"context"
	"fmt"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/schema"
)

// work is how much one read transaction of the mark reads: rows, and lines of manifests.
const work = 20_000

// mark marks the content that is in use, by the rows that are left and by pins.
func (c *collector) mark(ctx context.Context) error {
	if err := c.limits(ctx); err != nil {
		return err
	}
	return c.markRows(ctx, func(ContentRow) bool { return true })
}

// limits sets the floor and the ceiling: newer content is not judged.
func (c *collector) limits(ctx context.Context) error {
	return c.db.View(ctx, func(tx *schema.Tx) (err error) {
		if c.floor, c.ceiling, err = chunk.Newest(tx); err != nil {
			return err
		}
		staging, err := hold.Floor(tx)
		c.floor = min(c.floor, staging)
		return err
	})
}

// markRows marks the content of those rows that count, pinned content, and the bases of both.
func (c *collector) markRows(ctx context.Context, counts func(ContentRow) bool) error {
	c.blobs, c.manifests = nil, nil
	var at ContentRow
	for done := false; !done; {
		seen := 0
		var err error
		at, done, err = ScanContent(ctx, c.db, at, func(tx *schema.Tx, row ContentRow) (bool, error) {
			seen++
			if !counts(row) {
				return seen >= work, nil
			}

			lines, err := c.markContent(tx, row.Content)
			for _, content := range row.Conflict.Contents() {
				if err == nil {
					var more int
					more, err = c.markContent(tx, content)
					lines += more
				}
			}
			if err != nil {
				return false, fmt.Errorf("inode %d of branch %d: %w", row.Ino, row.Branch, err)
			}
			seen += lines
			return seen >= work, nil
		})
		if err != nil {
			return err
		}
		if err := c.rest(ctx, "mark"); err != nil {
			return err
		}
	}

	err := c.db.View(ctx, func(tx *schema.Tx) error {
		pins, err := chunk.PinnedContent(tx)
		if err != nil {
			return err
		}
		for _, p := range pins {
			if _, err := c.markContent(tx, contentOf(p)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.markBases(ctx)
}

// markBases marks the blobs that other blobs in use are stored over. The sweep would spare them in any case.
func (c *collector) markBases(ctx context.Context) error {
	var at chunk.Dependent
	for {
		var page []chunk.Dependent
		err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
			page, err = chunk.Dependents(tx, at, work)
			return err
		})
		if err != nil {
			return err
		}

		for _, at = range page {
			if at.Kind == hold.Blob && c.blobs.has(at.ID) {
				c.blobs.add(at.Base)
			}
		}
		if len(page) < work {
			return nil
		}
		if err := c.rest(ctx, "mark"); err != nil {
			return err
		}
	}
}

// rest is called between two transactions that only read. It writes a heartbeat if one is due.
func (c *collector) rest(ctx context.Context, step string) error {
	if err := c.tell(step); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || c.name == "" {
		return err
	}
	return c.heartbeat(ctx)
}

// contentOf returns the content of a pin, or of an entry of the write barrier.
func contentOf(p hold.Pin) chunk.Content {
	if p.Kind == hold.Manifest {
		return chunk.Content{Manifest: p.ID}
	}
	return chunk.Content{Blob: p.ID}
}

// markContent marks a blob, or a manifest with its blobs and the manifest that it is stored over. It returns how many
// lines of manifests it read.
func (c *collector) markContent(tx *schema.Tx, content chunk.Content) (lines int, err error) {
	if content.Blob != 0 {
		c.blobs.add(content.Blob)
	}
	if content.Manifest == 0 || !c.manifests.add(content.Manifest) {
		return 0, nil
	}

	ids, err := chunk.Blobs(tx, content.Manifest)
	for _, id := range ids {
		c.blobs.add(id)
	}
	if err != nil {
		return len(ids), err
	}

	base, err := chunk.BaseManifest(tx, content.Manifest)
	if err != nil || base == 0 {
		return len(ids), err
	}
	lines, err = c.markContent(tx, chunk.Content{Manifest: base})
	return lines + len(ids), err
}

// unmarked calls fn with the ids of stored content of one kind that may go, a page at a time.
func (c *collector) unmarked(ctx context.Context, kind int, fn func(ids []int64) error) error {
	newest, marked := c.floor, c.blobs
	if kind == hold.Manifest {
		newest, marked = c.ceiling, c.manifests
	}

	var at chunk.Sum
	for done := false; !done; {
		var ids, found []int64
		err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
			ids, at, done, err = chunk.Stored(tx, kind, at, work)
			return err
		})
		if err != nil {
			return err
		}

		for _, id := range ids {
			if id <= newest && !marked.has(id) {
				found = append(found, id)
			}
		}
		if err := fn(found); err != nil {
			return err
		}
		if err := c.rest(ctx, "list"); err != nil {
			return err
		}
	}
	return nil
}

// doom lists the content that is not in use, and begins the sweep.
func (c *collector) doom(ctx context.Context) error {
	size := batch{n: 256, least: 64, most: 8192}
	for _, kind := range []int{hold.Manifest, hold.Blob} {
		err := c.unmarked(ctx, kind, func(ids []int64) error { return c.condemnAll(ctx, &size, kind, ids) })
		if err != nil {
			return err
		}
	}

	return c.owned(ctx, "sweep begins", func(tx *schema.Tx) error {
		if err := hold.SetLimits(tx, c.floor, c.ceiling); err != nil {
			return err
		}
		return hold.SetPhase(tx, hold.Sweeping)
	})
}

// condemnAll puts content of one kind on the list, in several steps if there is much.
func (c *collector) condemnAll(ctx context.Context, size *batch, kind int, ids []int64) error {
	for len(ids) > 0 {
		some := ids[:min(size.n, len(ids))]
		ids = ids[len(some):]

		err := c.timed(ctx, size, "doom", func(tx *schema.Tx) error {
			for _, id := range some {
				if err := condemn(tx, kind, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

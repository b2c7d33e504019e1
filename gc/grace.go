package gc

import (
	"context"
	"time"

	"vfsdb/chunk"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// poll is how often a grace round looks whether the others have answered.
const poll = 50 * time.Millisecond

// grace asks every process that has files open, or streams running, to publish what it needs, and waits until all have, or
// are dead. It returns the newest orphan from before it asked.
func (c *collector) grace(ctx context.Context, step string) (through int64, err error) {
	var round int64
	err = c.owned(ctx, step, func(tx *schema.Tx) error {
		if err := chunk.DropDead(tx, time.Now()); err != nil {
			return err
		}
		if round, err = nextRound(tx); err != nil {
			return err
		}
		through, err = vfs.NewestOrphan(tx)
		return err
	})
	if err != nil {
		return 0, err
	}
	if err := c.fsys.PublishPins(ctx); err != nil {
		return 0, err
	}
	for {
		waiting, died, err := c.holders(ctx, round)
		if err != nil || !waiting {
			return through, err
		}
		if died {
			err = c.owned(ctx, "bury", func(tx *schema.Tx) error { return chunk.DropDead(tx, time.Now()) })
		} else if err = c.heartbeat(ctx); err == nil {
			err = sleep(ctx, poll)
		}
		if err != nil {
			return 0, err
		}
	}
}

// holders reports whether there are leases that have not answered, and whether one of them never will.
func (c *collector) holders(ctx context.Context, round int64) (waiting, died bool, err error) {
	err = c.db.View(ctx, func(tx *schema.Tx) error {
		late, err := chunk.Holders(tx, round)
		waiting = len(late) > 0
		for _, h := range late {
			died = died || h.Dead(time.Now())
		}
		return err
	})
	return waiting, died, err
}

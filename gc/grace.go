package gc

import (
	"context"
	"slices"
	"time"

	"vfsdb/hold"
	"vfsdb/schema"
	"vfsdb/tree"
)

const (
	// poll is how often a grace round checks for answers.
	poll = 50 * time.Millisecond

	// answer is how long a process has to answer, on our own clock, however old its heartbeat is by the wall clock. A
	// machine that slept wakes up with old heartbeats of processes that are alive. Those check for requests every
	// second.
	answer = 4 * time.Second
)

// grace asks every process with open files or running streams to publish the content that those need. It waits until
// each has answered, or is dead. It returns the newest orphan from before the request.
func (c *collector) grace(ctx context.Context, step string) (through int64, err error) {
	var round int64
	err = c.owned(ctx, step, func(tx *schema.Tx) error {
		if err := bury(tx, schema.Forever, hold.Holder.Gone); err != nil {
			return err
		}
		if round, err = hold.NextRound(tx); err != nil {
			return err
		}
		through, err = tree.NewestOrphan(tx)
		return err
	})
	if err != nil {
		return 0, err
	}
	if err := (*tree.Tree)(c.fsys).PublishPins(ctx); err != nil {
		return 0, err
	}

	asked := time.Now()
	dead := func(h hold.Holder) bool {
		return h.Gone() || time.Since(asked) > answer && h.Dead(time.Now())
	}
	for {
		waiting, died, err := c.holders(ctx, round, dead)
		if err != nil || !waiting {
			return through, err
		}
		if died {
			err = c.owned(ctx, "bury", func(tx *schema.Tx) error { return bury(tx, round, dead) })
		} else if err = c.heartbeat(ctx); err == nil {
			err = sleep(ctx, poll)
		}
		if err != nil {
			return 0, err
		}
	}
}

// bury deletes the leases that have not answered a round and whose holders are dead.
func bury(tx *schema.Tx, round int64, dead func(hold.Holder) bool) error {
	late, err := hold.Holders(tx, round)
	if err != nil {
		return err
	}
	for _, h := range late {
		if !dead(h) {
			continue
		}
		if err := hold.Bury(tx, h); err != nil {
			return err
		}
	}
	return nil
}

// holders reports whether some leases have not answered, and whether the holder of one of them is dead.
func (c *collector) holders(ctx context.Context, round int64, dead func(hold.Holder) bool) (waiting, died bool, err error) {
	err = c.db.View(ctx, func(tx *schema.Tx) error {
		late, err := hold.Holders(tx, round)
		waiting = len(late) > 0
		died = slices.ContainsFunc(late, dead)
		return err
	})
	return waiting, died, err
}

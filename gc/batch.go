package gc

import (
	"context"
	"time"

	"vfsdb/schema"
)

// A batch is how much one step does. It is adjusted after each step, so that the next takes about aimHold.
type batch struct{ n, least, most int }

// aimHold is how long a step should hold the lock. Now and then a step takes three times as long as the one before,
// because its rows lie elsewhere in the file. None should take 5 ms.
const aimHold = 1500 * time.Microsecond

func (b *batch) took(d time.Duration) {
	n := int(int64(b.n) * int64(aimHold) / max(1, int64(d)))
	b.n = min(max(n, b.n/2, b.least), b.n*2, b.most) // no more than half or double: the machine may have been busy
}

// timed is owned for one step of many, and adjusts how much the next one does.
func (c *collector) timed(ctx context.Context, size *batch, step string, fn func(*schema.Tx) error) error {
	err := c.owned(ctx, step, fn)
	if err == nil {
		size.took(c.last)
	}
	return err
}

package chunk

import (
	"context"
	"sync/atomic"
)

// A Tally counts the chunks that were written under a context: those that had to be stored, and those that were there
// already. A transaction that was rolled back counts too. It is safe for concurrent use.
type Tally struct {
	Stored, Found atomic.Int64
}

type tallyKey struct{}

// WithTally has t count what is written under the context that it returns.
func WithTally(ctx context.Context, t *Tally) context.Context {
	return context.WithValue(ctx, tallyKey{}, t)
}

// tally counts a chunk.
func tally(ctx context.Context, found bool) {
	t, _ := ctx.Value(tallyKey{}).(*Tally)
	switch {
	case t == nil:
	case found:
		t.Found.Add(1)
	default:
		t.Stored.Add(1)
	}
}

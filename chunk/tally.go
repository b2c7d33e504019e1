package chunk

import (
	"context"
	"sync/atomic"
)

// A Tally counts the chunks that are written under a context: those that had to be stored, and those that were there
// already. Chunks of a transaction that is rolled back count too. It is safe for concurrent use.
type Tally struct {
	Stored, Found atomic.Int64
}

type tallyKey struct{}

// WithTally returns a context under which t counts the chunks that are written.
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

package vfs

import (
	"context"

	"vfsdb/chunk"
)

// A Tally counts the chunks that were written under a context, see [WithTally]: in Stored those that were new, in Found those
// that the store had already. Both are atomic.
type Tally = chunk.Tally

// WithTally has t count the chunks that verbs write under the context that it returns.
func WithTally(ctx context.Context, t *Tally) context.Context { return chunk.WithTally(ctx, t) }

package vfs

import (
	"context"

	"vfsdb/chunk"
)

// A Tally counts the chunks that were written under a context: Stored are those that were new, Found those that the
// store had. Both are atomic.
type Tally = chunk.Tally

// WithTally has t count the chunks that verbs write under the new context.
func WithTally(ctx context.Context, t *Tally) context.Context { return chunk.WithTally(ctx, t) }

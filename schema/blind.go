package schema

import (
	"context"
)

// Blind returns a transaction without a connection, for reads that memory alone may answer. It sees no rows, and notes each
// query: then the answer is void, see [Tx.Missed]. It need not be ended.
func Blind(ctx context.Context) *Tx { return &Tx{ctx: ctx, blind: true} }

// Missed reports whether a Blind transaction was queried.
func (tx *Tx) Missed() bool { return tx.missed }

package schema

import (
	"context"
	"errors"
)

// Blind returns a transaction without a connection, for reads that memory alone may answer. It sees no rows, and notes each
// query: then the answer is void, see [Tx.Missed]. It need not be ended.
func Blind(ctx context.Context) *Tx { return &Tx{ctx: ctx, blind: true} }

// Missed reports whether a Blind transaction was queried.
func (tx *Tx) Missed() bool { return tx.missed }

// errBlind is the error of every query of a Blind transaction.
var errBlind = errors.New("a transaction without a connection sees no rows")

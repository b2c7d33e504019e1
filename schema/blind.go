package schema

import (
	"context"
	"errors"
)

// Blind returns a transaction without a connection, for what may be answered from memory alone: it only reads, sees no
// rows, and remembers that it was asked for some. Then whatever was answered counts for nothing, see [Tx.Missed]. It
// need not be ended.
func Blind(ctx context.Context) *Tx { return &Tx{ctx: ctx, blind: true} }

// Missed reports whether a Blind transaction was asked for rows.
func (tx *Tx) Missed() bool { return tx.missed }

// errBlind is what every query of a Blind transaction ends with.
var errBlind = errors.New("a transaction without a connection sees no rows")

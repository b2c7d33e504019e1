package vfs

import (
	"context"

	"vfsdb/tree"
)

// A Tx is one transaction on a tree, with the verbs of [os.Root]. Only the goroutine that runs the closure may use it,
// and only inside.
type Tx tree.Tx

// tree is the Tx as rooms below see it.
func (tx *Tx) tree() *tree.Tx { return (*tree.Tx)(tx) }

// Moment returns the point in history that the transaction shows.
func (tx *Tx) Moment() Moment { return tx.tree().Moment() }

// View runs fn on the transaction itself, so that a Tx can stand for an [FS] whose calls are all of one moment.
func (tx *Tx) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fn(tx)
}

// ChangedSince reports, in two look-ups, whether anything was written since a past moment of the branch, even if
// undone. One of another is EINVAL.
func (tx *Tx) ChangedSince(at Moment) (bool, error) { return tx.tree().ChangedSince(at) }

// writable refuses writes through a tree of the past, and through a transaction that only reads, or has ended.
func (tx *Tx) writable() error { return tx.tree().Writable() }

package vfs

import (
	"context"

	"vfsdb/tree"
)

// A Tx is one transaction on a tree. It has the verbs of [os.Root]; a path is relative to the root of the tree whether
// or not it starts with a slash. It is used by one goroutine, and only inside the closure that received it.
type Tx tree.Tx

// tree is the Tx as rooms below see it.
func (tx *Tx) tree() *tree.Tx { return (*tree.Tx)(tx) }

// Moment returns where in history the tree of the transaction stands.
func (tx *Tx) Moment() Moment { return tx.tree().Moment() }

// View runs fn on the transaction itself. So a Tx can stand wherever one moment is asked for, as an [FS] can for the
// moment of each call. fn is not run once ctx has ended.
func (tx *Tx) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fn(tx)
}

// ChangedSince reports whether anything was written to the head since a past moment of its own branch; what came back
// to what it was counts too. It costs two looks into an index, whatever was written. The moment of another branch is
// EINVAL.
func (tx *Tx) ChangedSince(at Moment) (bool, error) { return tx.tree().ChangedSince(at) }

// GrownSince bounds how much the branch grew since an event, see [Growth], what the transaction has done so far included.
// What shrank is left out. An event that is not there yet is Unknown.
func (tx *Tx) GrownSince(seq int64) (Growth, error) { return tx.tree().GrownSince(seq) }

// writable refuses writes through a tree of the past, and through a transaction that only reads, or has ended.
func (tx *Tx) writable() error { return tx.tree().Writable() }

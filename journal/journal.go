package journal

import (
	"context"
	"sync/atomic"

	"vfsdb/schema"
)

// A Journal is the record of one open store. It is safe for concurrent use.
type Journal struct {
	db     *schema.DB
	wake   wake
	closed atomic.Bool
}

// New returns the record of a store.
func New(db *schema.DB) *Journal { return &Journal{db: db} }

// Close ends every watch with [fs.ErrClosed].
func (j *Journal) Close() {
	j.closed.Store(true)
	j.wake.all()
}

// Seq returns the number of the newest change of the store, on any branch; 0 if nothing ever happened.
func (j *Journal) Seq(ctx context.Context) (seq int64, err error) {
	err = j.db.View(ctx, func(tx *schema.Tx) error {
		_, seq, err = Span(tx)
		return err
	})
	if seq < schema.FirstID {
		seq = 0
	}
	return seq, err
}

// A Source is where events are read: a branch, up to an epoch of it, and the branches that it comes from.
type Source struct {
	Branch, Epoch int64

	// View runs a function in a transaction that reads. It fails once nothing keeps the source any more.
	View func(context.Context, func(*schema.Tx) error) error
}

package tree

import (
	"context"

	"vfsdb/chunk"
)

// NewBatch returns a [chunk.Batch], which stores many contents before they get names. It ends with ctx, and must be closed.
func (t *Tree) NewBatch(ctx context.Context) *chunk.Batch {
	b := chunk.NewBatch(ctx, t.store.db, t.store.lease)
	if t.store.compress {
		b.Compress()
	}
	return b
}

// NewStager returns a [chunk.Stager], which stores one content out of sight. It must be closed.
func (t *Tree) NewStager() *chunk.Stager {
	s := chunk.NewStager(t.store.db, t.store.lease)
	if t.store.compress {
		s.Compress()
	}
	return s
}

// Prepare cuts and hashes data, and compresses it if the store is to.
func (t *Tree) Prepare(data []byte) *chunk.Draft {
	p := chunk.Prepare(data)
	if t.store.compress {
		p.Compress()
	}
	return p
}

// Prepare is Prepare of the tree, for a caller that has only the transaction.
func (tx *Tx) Prepare(data []byte) *chunk.Draft { return tx.tree.Prepare(data) }

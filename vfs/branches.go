package vfs

import (
	"context"

	"vfsdb/schema"
	"vfsdb/tree"
)

// Branches returns the branches of the store, oldest first.
func (st *Store) Branches(ctx context.Context) (list []Branch, err error) {
	err = st.tree().DB().View(ctx, func(tx *schema.Tx) (err error) {
		list, err = tree.Branches(tx)
		return err
	})
	return list, pathErr("branches", st.Path(), err)
}

// Branches returns the branches of the store, oldest first.
func (tx *Tx) Branches() ([]Branch, error) { return tx.tree().Branches() }

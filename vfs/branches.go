package vfs

import (
	"context"

	"vfsdb/history"
	"vfsdb/schema"
)

// Branches returns the branches of the store, oldest first.
func (st *Store) Branches(ctx context.Context) (list []Branch, err error) {
	err = st.tree().DB().View(ctx, func(tx *schema.Tx) (err error) {
		list, err = history.Branches(tx)
		return err
	})
	return list, pathErr("branches", st.Path(), err)
}

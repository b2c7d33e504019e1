package vfs

import (
	"context"
	"time"

	"vfsdb/journal"
)

// Branches returns the branches of the store, oldest first.
func (fsys *FS) Branches(ctx context.Context) (list []Branch, err error) {
	err = fsys.view(ctx, "branches", fsys.tree().Name(), func(tx *Tx) (err error) {
		list, err = tx.Branches()
		return err
	})
	return list, err
}

// LastChanges returns when something last happened to each branch, by its id, as far as the log goes back. It reads
// the whole log.
func (fsys *FS) LastChanges(ctx context.Context) (map[int64]time.Time, error) {
	var last map[int64]time.Time
	err := fsys.View(ctx, func(tx *Tx) (err error) {
		last, err = journal.LastChanges(tx.DB())
		return err
	})
	return last, err
}

package tree

import (
	"context"

	"vfsdb/schema"
)

// HasXattrs reports whether any inode of the store has extended attributes, at any moment of any branch. It reads every
// inode where none has: about a third of a second for a million.
func (t *Tree) HasXattrs(ctx context.Context) (has bool, err error) {
	err = t.store.db.View(ctx, func(db *schema.Tx) (err error) {
		_, has, err = db.Int(`SELECT 1 FROM inode WHERE xattrs IS NOT NULL LIMIT 1`)
		return err
	})
	return has, err
}

package gc

import (
	"context"
	"math"
	"time"

	"vfsdb/hold"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Leases counts the processes that hold a lease on the store: those that live, and those that have died and that the next
// collection buries.
func Leases(ctx context.Context, fsys *vfs.FS) (live, stale int, err error) {
	err = (*tree.Tree)(fsys).DB().View(ctx, func(tx *schema.Tx) error {
		live, stale = 0, 0
		holders, err := hold.Holders(tx, math.MaxInt64)
		for _, h := range holders {
			if h.Dead(time.Now()) {
				stale++
			} else {
				live++
			}
		}
		return err
	})
	return live, stale, err
}

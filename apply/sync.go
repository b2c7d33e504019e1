package apply

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"syscall"

	"vfsdb/transfer/hostdir"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// syncHost makes a file of the directory survive a loss of power. Tests replace it.
var syncHost = (*hostdir.Syncer).Sync

// sync makes all that the directory has in the places survive a loss of power, also what an apply before this one has written.
// Where the store does not sync its commits either, nothing is to be done.
func (a *applier) sync(ctx context.Context, source *vfs.FS) error {
	relaxed := false
	err := (*tree.Tree)(source).View(ctx, func(tx *tree.Tx) error {
		relaxed = tx.DB().Relaxed()
		return nil
	})
	if err != nil || relaxed {
		return err
	}

	at := hostdir.Reopener{Top: a.top}
	defer at.Close()
	var s hostdir.Syncer
	for _, p := range a.places {
		if err := ctx.Err(); err != nil {
			return err
		}
		in, err := at.Dir(hostPath(dirOf(p.path)))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue // it was removed, with what was in it
		}
		if err != nil {
			return err
		}
		if err := syncHost(&s, in, path.Base(p.path)); err != nil {
			return err
		}
	}
	return nil
}

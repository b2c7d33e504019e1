package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"vfsdb/vfs"
)

// unreadable handles an error of reading a file of the store. It ends the export; with Partial, damage is a refusal.
func (x *exporter) unreadable(name string, err error) error {
	if x.o.Partial && (errors.Is(err, vfs.ErrCorrupt) || errors.Is(err, syscall.EIO)) {
		x.refuse(name, err)
		return nil
	}
	return fmt.Errorf("%q: %w", inStore(name), cause(err))
}

// errUnlisted means that a directory lists a name, but a look-up does not find it.
var errUnlisted = fmt.Errorf("%w: the name is listed, but a look-up does not find it", vfs.ErrCorrupt)

// removed handles a name that was listed and is not found. It may have been removed since. If it is still listed, it is
// damaged.
func (x *exporter) removed(ctx context.Context, name string) error {
	listed := false
	err := x.fsys.View(ctx, func(tx *vfs.Tx) (err error) {
		listed, err = lists(tx, name)
		return err
	})
	if err == nil && listed {
		err = errUnlisted
	}
	if err != nil {
		return x.unreadable(name, err)
	}
	return nil
}

// lists reports whether a directory lists a name that a look-up does not find.
func lists(tx *vfs.Tx, name string) (bool, error) {
	if _, err := tx.Lstat(inStore(name)); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}

	dir := parent(name)
	for after := ""; ; {
		page, err := tx.ReadDirPage(inStore(dir), after, listPage)
		if errors.Is(err, fs.ErrNotExist) && dir != "" {
			return lists(tx, dir) // the directory itself may be missing
		}
		if err != nil {
			return false, err
		}
		for _, e := range page {
			if after = e.Name(); join(dir, after) == name {
				return true, nil
			}
		}
		if len(page) < listPage {
			return false, nil
		}
	}
}

package webdav

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"vfsdb/vfs"
)

// errNoSource is that a request moves nothing.
var errNoSource = errors.New("there is nothing to move")

// copy makes name a copy of what the request names, with all that is below it unless its depth is 0. What was at name is
// removed in the same commit.
func (q *request) copy(ctx context.Context, name string) error {
	return q.fsys.Update(ctx, func(tx *vfs.Tx) error {
		from, err := tx.Resolve(q.URL.Path, true)
		if err != nil {
			return err
		}
		if err := q.clear(tx, name); err != nil {
			return err
		}

		found, err := tx.Stat(from)
		if err != nil {
			return err
		}
		if !found.IsDir() || q.Header.Get("Depth") != "0" {
			return tx.Copy(from, name)
		}
		if err := tx.Mkdir(name, found.Mode().Perm()); err != nil {
			return err
		}
		value, err := loadProps(tx, from)
		if err != nil || value == "" {
			return err
		}
		return storeProps(tx, name, value)
	})
}

// move moves a file or a directory. What was at the new name is removed in the same commit.
func (q *request) move(ctx context.Context, from, to string) error {
	return q.fsys.Update(ctx, func(tx *vfs.Tx) error {
		if _, err := tx.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", errNoSource, err)
		}
		if err := q.clear(tx, to); err != nil {
			return err
		}
		return tx.Rename(from, to)
	})
}

// clear removes what is replaced.
func (q *request) clear(tx *vfs.Tx, name string) error {
	if q.gone != name {
		return nil
	}
	return tx.RemoveAll(name)
}

package webdav

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"vfsdb/vfs"
)

// errNoSource is that nothing is at the path that a request changes or moves.
var errNoSource = errors.New("there is nothing at this path")

// absent reports whether an error is that a path leads to nothing.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// errKept is that a request would replace what it has to keep.
var errKept = errors.New("there is something that may not be replaced")

// copy makes name a copy of the file or directory that the request names, with everything below it unless the depth is 0.
// An older file or directory at name is removed in the same commit.
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

// move moves a file or a directory. An older one at the new name is removed in the same commit.
func (q *request) move(ctx context.Context, from, to string) error {
	return q.fsys.Update(ctx, func(tx *vfs.Tx) error {
		if _, err := tx.Lstat(from); absent(err) {
			return fmt.Errorf("%w: %w", errNoSource, err)
		}
		if err := q.clear(tx, to); err != nil {
			return err
		}
		return tx.Rename(from, to)
	})
}

// clear removes what is replaced. If nothing may be, and something is there by now, it is
// errKept: x/net looks in a moment of its own before.
func (q *request) clear(tx *vfs.Tx, name string) error {
	_, err := tx.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case q.Header.Get("Overwrite") == "F":
		return fmt.Errorf("%w: %w", errKept, syscall.EEXIST)
	}
	return tx.RemoveAll(name)
}

package vfs

import (
	"context"
	"math"
	"syscall"

	"vfsdb/node"
)

// ReadFile returns a file's content, verified; over [MaxReadSize] is EFBIG.
func (tx *Tx) ReadFile(name string) ([]byte, error) {
	data, err := tx.readRange(name, 0, math.MaxInt64)
	return data, pathErr("read", name, err)
}

// ReadRange returns n bytes from off, fewer at the end of the file. It reads their chunks only. A negative number is
// EINVAL, over [MaxReadSize] EFBIG.
func (tx *Tx) ReadRange(name string, off, n int64) ([]byte, error) {
	data, err := tx.readRange(name, off, n)
	return data, pathErr("read", name, err)
}

func (tx *Tx) readRange(name string, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 {
		return nil, syscall.EINVAL
	}
	_, node, err := tx.findFile(name)
	if err != nil {
		return nil, err
	}
	return tx.tree().ReadContent(node.Content, off, n)
}

// findFile is find for a regular file, following symlinks. A directory is EISDIR, anything else EINVAL.
func (tx *Tx) findFile(name string) (place, *node.Node, error) {
	p, n, err := tx.find(name, true)
	if err != nil {
		return p, nil, err
	}
	return p, n, n.CheckRegular()
}

// ReadFile returns the content of a file at one moment, see [Tx.ReadFile].
func (fsys *FS) ReadFile(ctx context.Context, name string) (data []byte, err error) {
	err = fsys.view(ctx, "read", name, func(tx *Tx) (err error) {
		data, err = tx.ReadFile(name)
		return err
	})
	return data, err
}

// ReadRange returns n bytes of a file from offset off, see [Tx.ReadRange].
func (fsys *FS) ReadRange(ctx context.Context, name string, off, n int64) (data []byte, err error) {
	err = fsys.view(ctx, "read", name, func(tx *Tx) (err error) {
		data, err = tx.ReadRange(name, off, n)
		return err
	})
	return data, err
}

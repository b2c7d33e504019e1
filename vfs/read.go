package vfs

import (
	"context"
	"math"
	"syscall"

	"vfsdb/node"
)

// ReadFile returns the content of a file, verified. More than [MaxReadSize] is EFBIG.
func (tx *Tx) ReadFile(name string) ([]byte, error) {
	data, err := tx.readRange(name, 0, math.MaxInt64)
	return data, pathErr("read", name, err)
}

// ReadRange returns n bytes of a file from offset off, fewer where the file ends, none past its end. Only the chunks
// that hold them are read. A negative offset or length is EINVAL, more than [MaxReadSize] EFBIG.
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

// ReadFile returns the content of a file, verified. All of it is of one moment. More than [MaxReadSize] is EFBIG.
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

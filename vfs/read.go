package vfs

import (
	"context"
	"io"
	"math"
	"syscall"

	"vfsdb/chunk"
)

// MaxReadSize is how many bytes ReadFile, ReadRange and GetMany return at most: more is EFBIG. A file may be longer than
// any memory, by its holes alone. [FS.Open] reads one of any length.
const MaxReadSize = 1 << 30

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
	return tx.readContent(node.content, off, n)
}

// readContent reads a range of a content that is already known.
func (tx *Tx) readContent(c chunk.Content, off, n int64) ([]byte, error) {
	return tx.readUpTo(c, off, n, MaxReadSize)
}

// readUpTo is readContent with another bound. The length of the content is from a row that may be damaged: no memory is
// taken for it before it was compared.
func (tx *Tx) readUpTo(c chunk.Content, off, n, bound int64) ([]byte, error) {
	n = max(0, min(n, c.Size-off))
	cache := tx.fsys.store.cache
	if n <= bound {
		if data, ok := cache.Peek(c, off, n); ok {
			return data, nil
		}
	}
	if err := tx.db.Alive(); err != nil {
		return nil, err // before memory is taken for it
	}
	r := cache.NewReader(c)
	defer r.Release()
	if err := r.Check(tx.db); err != nil {
		return nil, err // a length that is damaged is that, and not EFBIG
	}
	if n > bound {
		return nil, syscall.EFBIG
	}
	data := make([]byte, n)
	for done := int64(0); done < n; {
		if err := tx.db.Context().Err(); err != nil {
			return nil, err
		}
		part := data[done:min(n, done+chunk.Size)]
		got, err := r.ReadAt(tx.db, part, off+done)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if got != len(part) {
			return nil, corrupt("content ends at %d of %d bytes", off+done+int64(got), c.Size)
		}
		done += int64(got)
	}
	return data, nil
}

// findFile is find for a regular file, following symlinks. A directory is EISDIR, anything else EINVAL.
func (tx *Tx) findFile(name string) (place, *inode, error) {
	p, n, err := tx.find(name, true)
	if err != nil {
		return p, nil, err
	}
	return p, n, n.checkRegular()
}

func (n *inode) checkRegular() error {
	switch n.kind() {
	case kindFile:
		return nil
	case kindDir:
		return syscall.EISDIR
	}
	return syscall.EINVAL
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

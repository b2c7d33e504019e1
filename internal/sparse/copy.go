package sparse

import (
	"bytes"
	"context"
	"io"
	"os"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// Write writes a small content. One of nothing but zeros becomes a hole.
func Write(f *os.File, p []byte) error {
	if len(bytes.TrimLeft(p, "\x00")) == 0 {
		return f.Truncate(int64(len(p)))
	}
	_, err := f.Write(p)
	return err
}

// Copy copies the stored parts of a content, and leaves holes between them.
func Copy(ctx context.Context, f *os.File, content *vfs.File, size int64) error {
	err := stored(ctx, content, func(p []byte, off int64) error {
		_, err := f.WriteAt(p, off)
		return err
	})
	if err != nil {
		return err
	}
	return f.Truncate(size)
}

// Read reads a large file once through, so that damage is known before any of it goes out.
func Read(ctx context.Context, content *vfs.File) error {
	return stored(ctx, content, func([]byte, int64) error { return nil })
}

// stored calls fn with each piece of a content that is stored, in order. A failure to read is a *ReadError.
func stored(ctx context.Context, content *vfs.File, fn func(p []byte, off int64) error) error {
	extents, err := content.Extents()
	if err != nil {
		return &ReadError{err}
	}

	buf := make([]byte, chunk.Size)
	for _, e := range extents {
		for off, end := e.Off, e.Off+e.Len; off < end; {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := buf[:min(end-off, chunk.Size)]
			if n, err := content.ReadAt(p, off); n < len(p) {
				return &ReadError{unlessEOF(err)}
			}
			if err := fn(p, off); err != nil {
				return err
			}
			off += int64(len(p))
		}
	}
	return nil
}

// A ReadError is a failure of the side that is read from.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }

func (e *ReadError) Unwrap() error { return e.Err }

// unlessEOF returns the error that ended a read too early.
func unlessEOF(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

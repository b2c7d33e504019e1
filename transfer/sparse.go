package transfer

import (
	"bytes"
	"context"
	"io"
	"os"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// writeSparse writes a small content. One of nothing but zeros becomes a hole.
func writeSparse(f *os.File, p []byte) error {
	if len(bytes.TrimLeft(p, "\x00")) == 0 {
		return f.Truncate(int64(len(p)))
	}
	_, err := f.Write(p)
	return err
}

// copySparse copies the stored parts of a content, and leaves holes between them.
func copySparse(ctx context.Context, f *os.File, content *vfs.File, size int64) error {
	err := readStored(ctx, content, func(p []byte, off int64) error {
		_, err := f.WriteAt(p, off)
		return err
	})
	if err != nil {
		return err
	}
	return f.Truncate(size)
}

// readable reads a large file once through, so that damage is known before any of it goes out.
func readable(ctx context.Context, content *vfs.File) error {
	return readStored(ctx, content, func([]byte, int64) error { return nil })
}

// readStored calls fn with each piece of a content that is stored, in order. A failure to read is a *readError.
func readStored(ctx context.Context, content *vfs.File, fn func(p []byte, off int64) error) error {
	extents, err := content.Extents()
	if err != nil {
		return &readError{err}
	}

	buf := make([]byte, chunk.Size)
	for _, e := range extents {
		for off, end := e.Off, e.Off+e.Len; off < end; {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := buf[:min(end-off, chunk.Size)]
			if n, err := content.ReadAt(p, off); n < len(p) {
				return &readError{unlessEOF(err)}
			}
			if err := fn(p, off); err != nil {
				return err
			}
			off += int64(len(p))
		}
	}
	return nil
}

// A readError is a failure of the side that is read from.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

func (e *readError) Unwrap() error { return e.err }

// unlessEOF returns the error that ended a read too early.
func unlessEOF(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

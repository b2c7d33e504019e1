package transfer

import (
	"bytes"
	"context"
	"io"
	"os"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// writeSparse writes a small content, without the zeros if it is nothing else.
func writeSparse(f *os.File, p []byte) error {
	if len(bytes.TrimLeft(p, "\x00")) == 0 {
		return f.Truncate(int64(len(p)))
	}
	_, err := f.Write(p)
	return err
}

// copySparse copies what is stored of a content, and leaves holes where nothing is.
func copySparse(ctx context.Context, f *os.File, content *vfs.File, size int64) error {
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
			if _, err := f.WriteAt(p, off); err != nil {
				return err
			}
			off += int64(len(p))
		}
	}
	return f.Truncate(size)
}

// A readError is a failure of the side that is read from.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

func (e *readError) Unwrap() error { return e.err }

// readable reads a large file once through, so that what cannot be read is known before anything of it goes out.
func readable(ctx context.Context, f *vfs.File, buf []byte) error {
	extents, err := f.Extents()
	if err != nil {
		return err
	}
	for _, e := range extents {
		for off, end := e.Off, e.Off+e.Len; off < end; off += int64(len(buf)) {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := buf[:min(end-off, int64(len(buf)))]
			if n, err := f.ReadAt(p, off); n < len(p) {
				return unlessEOF(err)
			}
		}
	}
	return nil
}

// unlessEOF is what ended a read too early.
func unlessEOF(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

package tarred

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
)

// A Reader reads the entries of a tar, and after the last one the rest of the stream.
type Reader struct {
	*tar.Reader
	ctx  context.Context
	from counter
}

// NewReader returns a Reader of a tar. Its rest is read until ctx ends.
func NewReader(ctx context.Context, r io.Reader) *Reader {
	t := &Reader{ctx: ctx, from: counter{r: r}}
	t.Reader = tar.NewReader(&t.from)
	return t
}

// The types of entries that GNU tar alone writes.
const (
	gnuLabel   = 'V' // the name of the archive
	gnuDumpDir = 'D' // a directory of an incremental backup; its content is the list of the names that it had
)

// blockSize is what a header and a content of a tar are padded to.
const blockSize = 512

// Next begins the next entry. It passes over those that are no file. The end of the tar is io.EOF, once all of the stream is
// read; a stream that ends within a block is io.ErrUnexpectedEOF.
func (t *Reader) Next() (*tar.Header, error) {
	for {
		h, err := t.Reader.Next()
		switch {
		case err == io.EOF:
			return nil, t.end()
		case h == nil:
			return nil, err
		case h.Typeflag == tar.TypeXGlobalHeader, h.Typeflag == gnuLabel:
			continue
		case h.Typeflag == gnuDumpDir:
			h.Typeflag = tar.TypeDir
		}
		return h, err
	}
}

// end reads what follows the tar.
func (t *Reader) end() error {
	if t.from.n%blockSize != 0 {
		return fmt.Errorf("behind the last content: %w", io.ErrUnexpectedEOF)
	}
	for {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		switch _, err := io.CopyN(io.Discard, t.from.r, 1<<20); {
		case err == io.EOF:
			return err
		case err != nil:
			return fmt.Errorf("behind the last entry: %w", err)
		}
	}
}

// A counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

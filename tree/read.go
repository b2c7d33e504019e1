package tree

import (
	"io"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// MaxReadSize is how many bytes ReadFile and ReadRange return at most: more is EFBIG. A file may be longer than any
// memory, by its holes alone. A [Handle] reads one of any length.
const MaxReadSize = 1 << 30

// ReadContent reads a range of a content that is already known.
func (tx *Tx) ReadContent(c chunk.Content, off, n int64) ([]byte, error) {
	return tx.readUpTo(c, off, n, MaxReadSize)
}

// readUpTo is readContent with another bound. The length of the content is from a row that may be damaged: it is
// compared before memory is taken for it.
func (tx *Tx) readUpTo(c chunk.Content, off, n, bound int64) ([]byte, error) {
	n = max(0, min(n, c.Size-off))
	cache := tx.tree.store.cache
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
			return nil, schema.Corrupt("content ends at %d of %d bytes", off+done+int64(got), c.Size)
		}
		done += int64(got)
	}
	return data, nil
}

// Stream returns a Reader of a content that is read once, from end to end: it leaves the cache of chunks to others. The
// caller releases it.
func (tx *Tx) Stream(c chunk.Content) *chunk.Reader { return tx.tree.store.cache.NewPassing(c) }

// NewReader returns a Reader of a content that shares the store's cache. It must be released.
func (tx *Tx) NewReader(c chunk.Content) *chunk.Reader { return tx.tree.store.cache.NewReader(c) }

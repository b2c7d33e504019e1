package chunk

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"vfsdb/hold"
	"vfsdb/schema"
)

// Read reads len(p) bytes of content from offset off on, as io.ReaderAt does: fewer only with an error, which is
// io.EOF at the end. It loads the chunks that it needs and verifies each.
func Read(tx *schema.Tx, c Content, p []byte, off int64) (int, error) {
	return (*Cache)(nil).Read(tx, c, p, off)
}

// A Reader reads one content, again and again. It keeps the manifest and the chunk that it read last: callers often read a
// few bytes at a time. It must not be used by two goroutines at once.
type Reader struct {
	cache   *Cache // nil: there is none
	passing bool   // it adds nothing to the cache
	content Content
	body    lines
	loaded  bool // body is

	kept *entry // chunk number at
	at   int64  // -1: kept is nothing

	end int64 // where the last read ended
	run int64 // how many bytes were read up to there without a leap
}

// NewReader returns a Reader of c. It reads nothing yet.
func NewReader(c Content) *Reader { return (*Cache)(nil).NewReader(c) }

// Content returns the content that the Reader reads.
func (r *Reader) Content() Content { return r.content }

// Release gives back the memory of the Reader, which may be used again afterwards.
func (r *Reader) Release() {
	r.drop()
	r.body, r.loaded = nil, false
}

func (r *Reader) drop() {
	if r.kept != nil {
		r.kept.release()
	}
	r.kept, r.at = nil, -1
}

// ReadAt is Read.
func (r *Reader) ReadAt(tx *schema.Tx, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, syscall.EINVAL
	}
	if err := r.open(tx); err != nil {
		return 0, err
	}

	leap := off != r.end
	for n < len(p) {
		i, start := off/Size, int(off%Size)
		length := lengthOf(r.content.Size, i)
		if start >= length {
			return n, io.EOF
		}

		part := p[n:min(len(p), n+length-start)]
		if err := r.read(tx, i, start, length, part, leap); err != nil {
			return n, err
		}
		r.passed(off, len(part))
		n += len(part)
		off += int64(len(part))
	}
	return n, nil
}

// ReadHeld is ReadAt without a transaction, from the chunk that was read last and from the cache. ok is false, and nothing
// is read, if they do not have all of it.
func (r *Reader) ReadHeld(p []byte, off int64) (n int, ok bool, err error) {
	if len(p) > peekLimit || !r.held(off, int64(len(p))) {
		return 0, false, nil
	}
	end, run := r.end, r.run
	if n, err = r.ReadAt(nil, p, off); err == nil || err == io.EOF {
		return n, true, err
	}
	r.end, r.run = end, run
	return 0, false, nil // a chunk that was there is gone
}

// held reports whether n bytes from off on are in memory, as far as the content goes.
func (r *Reader) held(off, n int64) bool {
	if off < 0 || r.open(nil) != nil {
		return false
	}
	for i := off / Size; off < r.content.Size && i*Size < min(off+n, r.content.Size); i++ {
		if from, ok := r.address(i, lengthOf(r.content.Size, i)); ok && i != r.at && !r.cache.has(from) {
			return false
		}
	}
	return true
}

// passed notes that n bytes were read.
func (r *Reader) passed(off int64, n int) {
	if off != r.end {
		r.run = 0
	}
	r.end = off + int64(n)
	r.run += int64(n)
}

// streams reports whether a read from off on continues a stream: a chunk's worth was read up to there without a leap. A
// stream reads nothing twice.
func (r *Reader) streams(off int64) bool { return off == r.end && r.run >= Size }

// Check loads and verifies the manifest, and compares it with the length of the content. It is called before memory is
// taken for a length that stands in a row.
func (r *Reader) Check(tx *schema.Tx) error { return r.open(tx) }

// open loads the manifest, once. It is never changed, so the cache may have it too.
func (r *Reader) open(tx *schema.Tx) (err error) {
	if r.loaded {
		return nil
	}
	if err := r.content.Check(); err != nil || r.content.Manifest == 0 {
		r.loaded = err == nil
		return err
	}

	if h := r.cache.take(manifestAddress(r.content)); h != nil {
		r.body, r.loaded = h.bytes, true // they are in no buffer, so they outlive the entry
		h.release()
		return nil
	}

	if tx == nil {
		return errNotKept
	}
	if r.body, err = linesOf(tx, r.content); err != nil {
		return err
	}
	r.loaded = true
	if r.fills(tx) {
		r.cache.put(&entry{address: manifestAddress(r.content), bytes: r.body})
	}
	return nil
}

// read fills part from chunk i, which is length bytes long. After a leap it loads only that part, if it can.
func (r *Reader) read(tx *schema.Tx, i int64, start, length int, part []byte, leap bool) error {
	if i != r.at {
		from, ok := r.address(i, length)
		switch {
		case !ok:
			clear(part)
			return nil
		case len(part) == length:
			return r.whole(tx, from, part)
		case leap && r.part(tx, from, start, part):
			return nil
		}
		if err := r.keep(tx, i, start, from); err != nil {
			return err
		}
	}
	copy(part, r.kept.bytes[start:])
	return nil
}

// address returns where chunk i is; ok is false if it is a hole.
func (r *Reader) address(i int64, length int) (a address, ok bool) {
	if r.content.Manifest == 0 {
		return blobAddress(r.content), r.content.Blob != 0
	}
	sum, ok := r.body.find(i)
	return address{size: int64(length), sum: sum}, ok
}

// whole fills p with all of a chunk. The cache gets a copy if it wants one and the content has no other chunk; longer
// content is being streamed.
func (r *Reader) whole(tx *schema.Tx, from address, p []byte) error {
	if h := r.cache.take(from); h != nil {
		copy(p, h.bytes)
		h.release()
		return nil
	}
	if err := load(tx, from, p, SumOf); err != nil {
		return err
	}
	if from.kind == hold.Blob && r.fills(tx) {
		r.cache.offer(from, p)
	}
	return nil
}

// keep makes chunk i the one that the Reader keeps. The cache gets it too, unless this is a stream in small steps.
func (r *Reader) keep(tx *schema.Tx, i int64, start int, from address) error {
	h := r.cache.take(from)
	if h == nil && tx == nil {
		return errNotKept
	}
	r.drop()

	if h == nil {
		h = newEntry(from)
		fills, sumOf := r.fills(tx) && !r.streams(i*Size+int64(start)), SumOf
		if fills && len(h.bytes) >= deltaLeast {
			sumOf = chained
		}
		if err := load(tx, from, h.bytes, sumOf); err != nil {
			h.release()
			return err
		}
		if fills {
			r.cache.put(h)
		}
	}

	r.kept, r.at = h, i
	return nil
}

// fills reports whether the cache may keep the reads of tx: not if tx writes, since it may be undone.
func (r *Reader) fills(tx *schema.Tx) bool { return r.cache != nil && !r.passing && !tx.Writable() }

// load fills p with the chunk at an address, verified.
func load(tx *schema.Tx, from address, p []byte, sumOf func(p []byte) Sum) error {
	switch {
	case tx == nil:
		return errNotKept
	case from.kind == hold.Blob:
		return loadBlobIDBy(tx, from.id, p, sumOf)
	}
	return loadBlobBy(tx, from.sum, p, sumOf)
}

// errNotKept means that the cache does not have a chunk, and there is no transaction to load it.
var errNotKept = errors.New("chunk: not in the cache")

// linesOf returns the lines of the manifest of c, which must be of the same size. Content without a manifest has none.
func linesOf(tx *schema.Tx, c Content) (lines, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Manifest == 0 {
		return nil, nil
	}
	size, body, err := loadManifest(tx, c.Manifest)
	if err != nil {
		return nil, err
	}
	if size != c.Size {
		return nil, &CorruptError{Manifest: c.Manifest, Why: fmt.Sprintf("is of %d bytes where there must be %d", size, c.Size)}
	}
	return body, nil
}

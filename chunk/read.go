package chunk

import (
	"fmt"
	"io"
	"syscall"

	"vfsdb/schema"
)

// Read reads len(p) bytes of content from offset off on, as io.ReaderAt does: fewer only with an error, which is
// io.EOF at the end. It loads the chunks that it needs and verifies each.
func Read(tx *schema.Tx, c Content, p []byte, off int64) (int, error) {
	r := NewReader(c)
	defer r.Release()
	return r.ReadAt(tx, p, off)
}

// A Reader reads one content, again and again. It keeps the manifest and the chunk that it touched last: callers often
// read a few bytes at a time. It must not be used by two goroutines at once.
type Reader struct {
	content Content
	body    lines
	loaded  bool // body is

	kept   []byte // chunk number at
	at     int64  // -1: kept is nothing
	pooled *buffer
}

// NewReader returns a Reader of c. It reads nothing yet.
func NewReader(c Content) *Reader { return &Reader{content: c, at: -1} }

// Content returns what is read.
func (r *Reader) Content() Content { return r.content }

// Release gives back what the Reader keeps in memory. It may be used again afterwards.
func (r *Reader) Release() {
	if r.pooled != nil {
		giveBuffer(r.pooled)
	}
	*r = Reader{content: r.content, at: -1}
}

// ReadAt is Read.
func (r *Reader) ReadAt(tx *schema.Tx, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, syscall.EINVAL
	}
	if err := r.open(tx); err != nil {
		return 0, err
	}
	for n < len(p) {
		i, start := off/Size, int(off%Size)
		length := lengthOf(r.content.Size, i)
		if start >= length {
			return n, io.EOF
		}
		part := p[n:min(len(p), n+length-start)]
		if err := r.read(tx, i, start, length, part); err != nil {
			return n, err
		}
		n += len(part)
		off += int64(len(part))
	}
	return n, nil
}

// ReadHeld is ReadAt without a transaction, for a read that the chunk kept by the last one can answer. ok is false,
// and nothing is read, if it cannot.
func (r *Reader) ReadHeld(p []byte, off int64) (n int, ok bool, err error) {
	start := off - r.at*Size
	if r.at < 0 || start < 0 || start > int64(len(r.kept)) {
		return 0, false, nil
	}
	n = copy(p, r.kept[start:])
	switch {
	case n == len(p):
		return n, true, nil
	case r.at*Size+int64(len(r.kept)) == r.content.Size:
		return n, true, io.EOF
	}
	return 0, false, nil
}

// open loads the manifest, once.
func (r *Reader) open(tx *schema.Tx) (err error) {
	if r.loaded {
		return nil
	}
	r.body, err = linesOf(tx, r.content)
	r.loaded = err == nil
	return err
}

// read fills part from chunk i, which is length bytes long. Whoever wants all of a chunk gets it without a copy of ours.
func (r *Reader) read(tx *schema.Tx, i int64, start, length int, part []byte) error {
	switch {
	case i == r.at:
	case len(part) == length:
		return r.load(tx, i, part)
	case r.hole(i):
		clear(part)
		return nil
	default:
		r.at = -1
		kept := r.room(length)
		if err := r.load(tx, i, kept); err != nil {
			return err
		}
		r.kept, r.at = kept, i
	}
	copy(part, r.kept[start:])
	return nil
}

func (r *Reader) hole(i int64) bool {
	if r.content.Manifest == 0 {
		return r.content.Blob == 0
	}
	_, ok := r.body.find(i)
	return !ok
}

// load fills p with all of chunk i.
func (r *Reader) load(tx *schema.Tx, i int64, p []byte) error {
	if r.content.Manifest == 0 && r.content.Blob != 0 {
		return loadBlobID(tx, r.content.Blob, p)
	}
	if sum, ok := r.body.find(i); ok {
		return loadBlob(tx, sum, p)
	}
	clear(p)
	return nil
}

// room returns memory for a chunk. Short content gets no more than it needs, since many small files may be open.
func (r *Reader) room(length int) []byte {
	if r.content.Size < Size/8 {
		return make([]byte, length)
	}
	if r.pooled == nil {
		r.pooled = takeBuffer()
	}
	return r.pooled[:length]
}

// linesOf returns the lines of a manifest that must be of this size. Content without one has none.
func linesOf(tx *schema.Tx, c Content) (lines, error) {
	if err := c.check(); err != nil {
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

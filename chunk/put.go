package chunk

import (
	"syscall"

	"vfsdb/hold"
	"vfsdb/schema"
)

// Put stores content of any length, unless it is stored already.
func Put(tx *schema.Tx, p []byte) (Content, error) { return Prepare(p).Put(tx) }

// A Draft is content that is cut and hashed, and not stored.
type Draft struct {
	data   []byte
	body   lines
	sum    Sum
	frames [][]byte // of the chunks in body; nil unless they are to be compressed
}

// Prepare cuts and hashes p, which must not change before the last Put.
func Prepare(p []byte) *Draft {
	draft := &Draft{data: p}
	for rest, i := p, int64(0); len(rest) > 0; i++ {
		part := rest[:min(Size, len(rest))]
		rest = rest[len(part):]
		if !isHole(part) {
			draft.body = draft.body.add(i, SumOf(part))
		}
	}
	draft.sum = sumOf(int64(len(p)), draft.body)
	return draft
}

// Compress compresses the chunks that shrink by a tenth, for Put to store them so.
func (p *Draft) Compress() {
	p.frames = make([][]byte, p.body.count())
	for n := range p.frames {
		p.frames[n] = squeeze(p.part(n))
	}
}

// part returns the bytes of line n.
func (p *Draft) part(n int) []byte {
	i, _ := p.body.at(n)
	rest := p.data[i*Size:]
	return rest[:min(Size, len(rest))]
}

// Sum returns the sum that the content has, before and after it is stored.
func (p *Draft) Sum() Sum { return p.sum }

// Put stores the content, unless it is stored already. It may be called in several transactions.
func (p *Draft) Put(tx *schema.Tx) (Content, error) {
	var last int64
	for n := range p.body.count() {
		_, sum := p.body.at(n)
		var frame []byte
		if p.frames != nil {
			frame = p.frames[n]
		}
		id, _, err := putChunk(tx, sum, p.part(n), frame)
		if err != nil {
			return Content{}, err
		}
		last = id
	}
	return seal(tx, int64(len(p.data)), p.body, p.sum, last)
}

// putChunk stores a chunk, as its frame if there is one, or finds it stored. A chunk that it finds may have been garbage, so
// it is noted for a running collection.
func putChunk(tx *schema.Tx, sum Sum, p, frame []byte) (id int64, found bool, err error) {
	if !tx.Writable() {
		return 0, false, syscall.EROFS
	}
	if id, found, err = storeOrFind(tx, sum, p, frame); err == nil {
		tally(tx.Context(), found)
	}
	return id, found, err
}

func storeOrFind(tx *schema.Tx, sum Sum, p, frame []byte) (id int64, found bool, err error) {
	// Looking first costs a statement, storing in vain costs a copy of the bytes.
	if len(p) <= small {
		id, added, err := addBlob(tx, sum, p, frame)
		if added || err != nil {
			return id, false, err
		}
	}
	if id, err = findBlob(tx, sum); err != nil {
		return 0, false, err
	}
	if id != 0 {
		return id, true, hold.Touch(tx, hold.Blob, id)
	}
	id, added, err := addBlob(tx, sum, p, frame)
	if err == nil && !added {
		err = &CorruptError{Blob: id, Why: "is there already, under a number that was not given out"}
	}
	return id, false, err
}

// findChunk returns the id of a chunk that is stored, or 0, as putChunk finds it.
func findChunk(tx *schema.Tx, sum Sum) (id int64, err error) {
	if id, err = findBlob(tx, sum); err != nil || id == 0 {
		return 0, err
	}
	tally(tx.Context(), true)
	return id, hold.Touch(tx, hold.Blob, id)
}

// small is the length up to which a chunk is stored without looking for it first.
const small = 16 << 10

// seal returns the Content of stored chunks: of the blob only if it has one chunk, else of a manifest of body.
func seal(tx *schema.Tx, size int64, body lines, sum Sum, only int64) (Content, error) {
	c := Content{Size: size}
	if size <= Size {
		c.Blob = only
		return c, nil
	}
	if !tx.Writable() {
		return Content{}, syscall.EROFS
	}
	var err error
	c.Manifest, err = putManifest(tx, size, body, sum)
	return c, err
}

// sumOf returns the sum of content that has these lines.
func sumOf(size int64, body lines) Sum {
	if size > Size {
		return body.sum(size)
	}
	if sum, ok := body.find(0); ok {
		return sum
	}
	return SumOf(zeros[:size])
}

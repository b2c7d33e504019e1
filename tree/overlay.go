package tree

import (
	"cmp"
	"maps"
	"slices"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// An overlay is a change of a file's content that is not committed: where the content below was cut off, and what was
// written since, in pieces of chunks. The zero overlay changes nothing.
type overlay struct {
	isCut  bool
	cut    int64            // only the bytes before this one of the content below show
	pieces map[int64]*piece // by chunk index
	end    int64            // the content is at least this long
	bytes  int              // of memory that the pieces take
}

// A piece holds the written bytes of one chunk.
type piece struct {
	start int        // where data begins in the chunk
	data  []byte     // from the first byte that was written to the last
	spans []byteSpan // written ranges, ascending, apart from each other
}

type byteSpan struct{ from, to int }

const (
	// maxBytes bounds the memory of an overlay, so that one more piece may be written to.
	maxBytes = 8<<20 - maxPiece

	// maxPiece is the memory that one write to a piece may take: that of a chunk, and half of it to grow.
	maxPiece = 3 * chunk.Size / 2

	// maxPieces bounds how long its commit takes.
	maxPieces = 32
)

func (o *overlay) empty() bool { return !o.isCut && len(o.pieces) == 0 }
func (o *overlay) full() bool  { return len(o.pieces) >= maxPieces || o.bytes > maxBytes }

// shows returns how many bytes of a content below show; the others are cut off.
func (o *overlay) shows(below int64) int64 {
	if o.isCut {
		return min(below, o.cut)
	}
	return below
}

// size returns the length of the content, laid over one of the given length.
func (o *overlay) size(below int64) int64 { return max(o.shows(below), o.end) }

// write takes the bytes of p that fall into the chunk of off, and returns how many they are.
func (o *overlay) write(p []byte, off int64) int {
	index, from := off/chunk.Size, int(off%chunk.Size)
	p = p[:min(len(p), chunk.Size-from)]
	if o.pieces == nil {
		o.pieces = make(map[int64]*piece)
	}
	c := o.pieces[index]
	if c == nil {
		c = &piece{}
		o.pieces[index] = c
	}
	had := cap(c.data)
	c.reach(from, from+len(p))
	o.bytes += cap(c.data) - had
	copy(c.data[from-c.start:], p)
	c.add(byteSpan{from, from + len(p)})
	o.end = max(o.end, off+int64(len(p)))
	return len(p)
}

// reach makes room for the bytes of a range. One small write takes no more than that.
func (c *piece) reach(from, to int) {
	if len(c.data) == 0 {
		c.start = from
	}
	if from < c.start {
		c.data = append(make([]byte, c.start-from, max(to, c.start+len(c.data))-from), c.data...)
		c.start = from
	}
	if to -= c.start; to > len(c.data) {
		c.data = slices.Grow(c.data, to-len(c.data))[:to]
	}
}

// bytes returns those of a range.
func (c *piece) bytes(s byteSpan) []byte { return c.data[s.from-c.start : s.to-c.start] }

// add joins a range with those that it touches.
func (c *piece) add(s byteSpan) {
	first, _ := slices.BinarySearchFunc(c.spans, s.from, func(have byteSpan, from int) int { return cmp.Compare(have.to, from) })
	last := first
	for last < len(c.spans) && c.spans[last].from <= s.to {
		s = byteSpan{min(s.from, c.spans[last].from), max(s.to, c.spans[last].to)}
		last++
	}
	c.spans = slices.Replace(c.spans, first, last, s)
}

// truncate makes the content size bytes long.
func (o *overlay) truncate(size int64) {
	for index, c := range o.pieces {
		if length := size - index*chunk.Size; length < chunk.Size && !c.keep(int(max(0, length))) {
			o.bytes -= cap(c.data)
			delete(o.pieces, index)
		}
	}
	o.isCut, o.cut, o.end = true, o.shows(size), size
}

// keep forgets what was written past the first length bytes of a chunk. It reports whether anything is left.
func (c *piece) keep(length int) bool {
	for last := len(c.spans) - 1; last >= 0 && c.spans[last].to > length; last-- {
		if c.spans[last].from < length {
			c.spans[last].to = length
			break
		}
		c.spans = c.spans[:last]
	}
	if len(c.spans) == 0 {
		return false
	}
	c.data = c.data[:c.spans[len(c.spans)-1].to-c.start]
	return true
}

// merge lays a later overlay over this one, which may take its memory.
func (o *overlay) merge(later *overlay) {
	if o.empty() {
		*o = *later
		return
	}
	if later.isCut {
		o.truncate(later.cut)
	}
	for _, p := range later.patches() {
		for done := 0; done < len(p.Data); {
			done += o.write(p.Data[done:], p.Off+int64(done))
		}
	}
	o.end = max(o.end, later.end)
}

// apply stores the content that the overlay makes of base.
func (o *overlay) apply(tx *schema.Tx, base chunk.Content) (chunk.Content, error) {
	if shows := o.shows(base.Size); shows < base.Size {
		var err error
		if base, err = chunk.Apply(tx, base, shows, nil); err != nil {
			return chunk.Content{}, err
		}
	}
	return chunk.Apply(tx, base, o.size(base.Size), o.patches())
}

// patches lists the written ranges in the order of their offsets.
func (o *overlay) patches() []chunk.Patch {
	var list []chunk.Patch
	for _, index := range slices.Sorted(maps.Keys(o.pieces)) {
		c := o.pieces[index]
		for _, s := range c.spans {
			list = append(list, chunk.Patch{Off: index*chunk.Size + int64(s.from), Data: c.bytes(s)})
		}
	}
	return list
}

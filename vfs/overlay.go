package vfs

import (
	"cmp"
	"maps"
	"slices"

	"vfsdb/chunk"
)

// An overlay is what was written to a file and is not committed yet: pieces of chunks, and which bytes of them count.
type overlay struct {
	pieces map[int64]*piece // by chunk index
	end    int64            // past the last byte written
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
	// maxBytes bounds the memory of an overlay. One more write may take what a chunk does, and half of that to grow.
	maxBytes = 8<<20 - 3*chunk.Size/2

	// maxPieces bounds how long its commit takes.
	maxPieces = 32
)

func (o *overlay) empty() bool { return len(o.pieces) == 0 }
func (o *overlay) full() bool  { return len(o.pieces) >= maxPieces || o.bytes > maxBytes }

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

// readOver lays the written bytes over p, which was read from off.
func (o *overlay) readOver(p []byte, off int64) {
	if o.empty() {
		return
	}
	end := off + int64(len(p))
	for index := off / chunk.Size; index*chunk.Size < end; index++ {
		c := o.pieces[index]
		if c == nil {
			continue
		}
		start := index * chunk.Size
		for _, s := range c.spans {
			from, to := max(off, start+int64(s.from)), min(end, start+int64(s.to))
			if from < to {
				copy(p[from-off:to-off], c.bytes(byteSpan{int(from - start), int(to - start)}))
			}
		}
	}
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

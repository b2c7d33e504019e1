package tree

import (
	"slices"

	"vfsdb/chunk"
)

// A cover is what overlays make of a range of a committed content, copied out of them: it stays as it is when they
// change.
type cover struct {
	off, end int64         // the range
	shows    int64         // how many bytes of the committed content show
	size     int64         // of the whole
	patches  []chunk.Patch // to be laid over the range, in this order
}

// newCover is the cover of a content that nothing lies over.
func newCover(size, off, end int64) cover { return cover{off: off, end: end, shows: size, size: size} }

// add lays one more overlay over it.
func (c *cover) add(o *overlay) {
	if o.isCut {
		c.shows = o.shows(c.shows)
		for i := range c.patches {
			p := &c.patches[i]
			p.Data = p.Data[:max(0, min(int64(len(p.Data)), o.cut-p.Off))]
		}
		// One that was cut off whole may lie past the end of the file, where there is nothing to lay it over.
		c.patches = slices.DeleteFunc(c.patches, func(p chunk.Patch) bool { return len(p.Data) == 0 })
	}
	c.size = o.size(c.size)
	for index := c.off / chunk.Size; len(o.pieces) > 0 && index*chunk.Size < min(c.end, o.end); index++ {
		if p := o.pieces[index]; p != nil {
			c.addPiece(p, index*chunk.Size)
		}
	}
}

// addPiece copies what was written to the chunk that begins at start.
func (c *cover) addPiece(p *piece, start int64) {
	for _, s := range p.spans {
		from, to := max(c.off, start+int64(s.from)), min(c.end, start+int64(s.to))
		if from < to {
			data := p.bytes(byteSpan{int(from - start), int(to - start)})
			c.patches = append(c.patches, chunk.Patch{Off: from, Data: slices.Clone(data)})
		}
	}
}

// hides reports whether one patch hides all that is below the range.
func (c *cover) hides() bool {
	return slices.ContainsFunc(c.patches, func(p chunk.Patch) bool {
		return p.Off == c.off && p.Off+int64(len(p.Data)) == c.end
	})
}

// lay lays the patches over p, which holds the range.
func (c *cover) lay(p []byte) {
	for _, patch := range c.patches {
		copy(p[patch.Off-c.off:], patch.Data)
	}
}

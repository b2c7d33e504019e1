package chunk

import (
	"io"
	"slices"

	"vfsdb/schema"
)

// A Cover is the part of some Overlays that lies over a range of a committed content. It is a copy: it stays the same when
// they change.
type Cover struct {
	off, end int64   // the range
	shows    int64   // how many bytes of the committed content show
	size     int64   // of the whole content
	patches  []Patch // to be laid over the range, in this order
}

// NewCover returns the Cover of a range of a content that nothing lies over yet.
func NewCover(c Content, off, end int64) Cover {
	return Cover{off: off, end: end, shows: c.Size, size: c.Size}
}

// Size returns the length of the whole content, with the Overlays.
func (c *Cover) Size() int64 { return c.size }

// Add lays one more Overlay over it.
func (c *Cover) Add(o *Overlay) {
	if o.isCut {
		c.shows = o.shows(c.shows)
		for i := range c.patches {
			p := &c.patches[i]
			p.Data = p.Data[:max(0, min(int64(len(p.Data)), o.cut-p.Off))]
		}
		// A patch that is cut off whole may lie past the end of the content.
		c.patches = slices.DeleteFunc(c.patches, func(p Patch) bool { return len(p.Data) == 0 })
	}
	c.size = o.Size(c.size)

	for index := c.off / Size; len(o.windows) > 0 && index*Size < min(c.end, o.end); index++ {
		if w := o.windows[index]; w != nil {
			c.addWindow(w, index*Size)
		}
	}
}

// addWindow copies the bytes that were written to the chunk that begins at start.
func (c *Cover) addWindow(w *window, start int64) {
	for _, s := range w.spans {
		from, to := max(c.off, start+int64(s.from)), min(c.end, start+int64(s.to))
		if from < to {
			data := w.of(span{int(from - start), int(to - start)})
			c.patches = append(c.patches, Patch{Off: from, Data: slices.Clone(data)})
		}
	}
}

// Read fills p with the range: committed bytes, which r reads, and the bytes that lie over them. It returns io.EOF if the
// content ends within p.
func (c *Cover) Read(tx *schema.Tx, r *Reader, p []byte) (int, error) {
	if c.off >= c.size {
		return 0, io.EOF
	}
	wanted := len(p)
	p = p[:min(int64(wanted), c.size-c.off)]

	n := 0
	if shown := max(0, c.shows-c.off); shown > 0 && !c.hides() {
		var err error
		if n, err = r.ReadAt(tx, p[:min(int64(len(p)), shown)], c.off); err != nil && err != io.EOF {
			return 0, err
		}
	}
	clear(p[n:])
	for _, patch := range c.patches {
		copy(p[patch.Off-c.off:], patch.Data)
	}

	if len(p) < wanted {
		return len(p), io.EOF
	}
	return len(p), nil
}

// hides reports whether one patch hides all that is below the range.
func (c *Cover) hides() bool {
	return slices.ContainsFunc(c.patches, func(p Patch) bool {
		return p.Off == c.off && p.Off+int64(len(p.Data)) == c.end
	})
}

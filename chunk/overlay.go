package chunk

import (
	"cmp"
	"maps"
	"slices"

	"vfsdb/schema"
)

// An Overlay is a change of a content that is not committed: where the content below is cut off, and the bytes that were
// written since. The zero Overlay changes nothing. It is not safe for concurrent use.
type Overlay struct {
	isCut   bool
	cut     int64             // of the content below, only the bytes before this one show
	windows map[int64]*window // by the index of the chunk
	end     int64             // the content is at least this long
	bytes   int               // of memory that the windows take
}

// A window holds the bytes that were written to one chunk.
type window struct {
	start int    // where data begins in the chunk
	data  []byte // from the first byte that was written to the last
	spans []span // that were written: ascending, apart from each other
}

const (
	// overlayBytes bounds the memory of an Overlay, so that one more window may be written to.
	overlayBytes = 8<<20 - windowBytes

	// windowBytes is the memory that one write to a window may take: that of a chunk, and half of it to grow.
	windowBytes = 3 * Size / 2

	// overlayWindows bounds how long Apply takes.
	overlayWindows = 32
)

// IsEmpty reports whether the Overlay changes nothing.
func (o *Overlay) IsEmpty() bool { return !o.isCut && len(o.windows) == 0 }

// IsFull reports whether the Overlay takes no more writes.
func (o *Overlay) IsFull() bool { return len(o.windows) >= overlayWindows || o.bytes > overlayBytes }

// HasWrites reports whether the Overlay has written bytes, and does not only cut.
func (o *Overlay) HasWrites() bool { return len(o.windows) > 0 }

// Fits reports whether n more bytes at off can be written without going beyond the bounds of one Overlay, if these are
// counted together.
func Fits(overlays []*Overlay, n int, off int64) bool {
	windows, bytes := 0, 0
	for _, o := range overlays {
		windows += len(o.windows)
		bytes += o.bytes
	}
	more := int((off+int64(n)-1)/Size - off/Size + 1)
	return windows+more <= overlayWindows && bytes+(more-1)*windowBytes <= overlayBytes
}

// shows returns how many bytes of a content below show; the others are cut off.
func (o *Overlay) shows(below int64) int64 {
	if o.isCut {
		return min(below, o.cut)
	}
	return below
}

// Size returns the length of the content when the Overlay lies over one of below bytes.
func (o *Overlay) Size(below int64) int64 { return max(o.shows(below), o.end) }

// Write takes the bytes of p that fall into the chunk of off, and returns how many they are.
func (o *Overlay) Write(p []byte, off int64) int {
	index, from := off/Size, int(off%Size)
	p = p[:min(len(p), Size-from)]

	if o.windows == nil {
		o.windows = make(map[int64]*window)
	}
	w := o.windows[index]
	if w == nil {
		w = &window{}
		o.windows[index] = w
	}

	before := cap(w.data)
	w.reach(from, from+len(p))
	o.bytes += cap(w.data) - before
	copy(w.data[from-w.start:], p)
	w.add(span{from, from + len(p)})
	o.end = max(o.end, off+int64(len(p)))
	return len(p)
}

// reach makes room for the bytes of a range. One small write takes no more than that.
func (w *window) reach(from, to int) {
	if len(w.data) == 0 {
		w.start = from
	}
	if from < w.start {
		w.data = append(make([]byte, w.start-from, max(to, w.start+len(w.data))-from), w.data...)
		w.start = from
	}
	if to -= w.start; to > len(w.data) {
		w.data = slices.Grow(w.data, to-len(w.data))[:to]
	}
}

// of returns the bytes of a range.
func (w *window) of(s span) []byte { return w.data[s.from-w.start : s.to-w.start] }

// add joins a range with those that it touches.
func (w *window) add(s span) {
	first, _ := slices.BinarySearchFunc(w.spans, s.from, func(have span, from int) int { return cmp.Compare(have.to, from) })
	last := first
	for last < len(w.spans) && w.spans[last].from <= s.to {
		s = span{min(s.from, w.spans[last].from), max(s.to, w.spans[last].to)}
		last++
	}
	w.spans = slices.Replace(w.spans, first, last, s)
}

// Truncate makes the content size bytes long.
func (o *Overlay) Truncate(size int64) {
	for index, w := range o.windows {
		if length := size - index*Size; length < Size && !w.truncate(int(max(0, length))) {
			o.bytes -= cap(w.data)
			delete(o.windows, index)
		}
	}
	o.isCut, o.cut, o.end = true, o.shows(size), size
}

// truncate drops the bytes that were written past the first length bytes of the chunk. It reports whether any are left.
func (w *window) truncate(length int) bool {
	for last := len(w.spans) - 1; last >= 0 && w.spans[last].to > length; last-- {
		if w.spans[last].from < length {
			w.spans[last].to = length
			break
		}
		w.spans = w.spans[:last]
	}
	if len(w.spans) == 0 {
		return false
	}
	w.data = w.data[:w.spans[len(w.spans)-1].to-w.start]
	return true
}

// Merge lays a later Overlay over this one, which may take its memory.
func (o *Overlay) Merge(later *Overlay) {
	if o.IsEmpty() {
		*o = *later
		return
	}
	if later.isCut {
		o.Truncate(later.cut)
	}
	for _, p := range later.patches() {
		for done := 0; done < len(p.Data); {
			done += o.Write(p.Data[done:], p.Off+int64(done))
		}
	}
	o.end = max(o.end, later.end)
}

// Apply stores the content that the Overlay makes of base.
func (o *Overlay) Apply(tx *schema.Tx, base Content) (Content, error) {
	if shows := o.shows(base.Size); shows < base.Size {
		var err error
		if base, err = Apply(tx, base, shows, nil); err != nil {
			return Content{}, err
		}
	}
	return Apply(tx, base, o.Size(base.Size), o.patches())
}

// patches lists the written ranges in the order of their offsets.
func (o *Overlay) patches() []Patch {
	var list []Patch
	for _, index := range slices.Sorted(maps.Keys(o.windows)) {
		w := o.windows[index]
		for _, s := range w.spans {
			list = append(list, Patch{Off: index*Size + int64(s.from), Data: w.of(s)})
		}
	}
	return list
}

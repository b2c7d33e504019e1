package textdiff

import (
	"bytes"
	"slices"
)

// A Range is the half-open range [From, To) of lines, counted from 0. In the hunks of Fields it counts bytes.
type Range struct{ From, To int }

// Len is the count of lines in r, or of bytes.
func (r Range) Len() int { return r.To - r.From }

// A Text is bytes and the places where they are cut into lines. It is a view of the bytes, which must not change.
// The zero Text is empty.
type Text struct {
	data []byte
	cuts []int // where the pieces begin, and the end of the last one
}

// Lines cuts data after each line feed. A carriage return is part of its line. Only the last line may lack a line feed;
// if data ends in one, no empty line follows.
func Lines(data []byte) Text {
	var t Text
	t.Reset(data)
	return t
}

// Reset makes t the lines of data, as Lines does. It uses the memory of t again, so copies of t are no texts any more.
func (t *Text) Reset(data []byte) {
	cuts := append(slices.Grow(t.cuts[:0], bytes.Count(data, []byte{'\n'})+2), 0)
	for at := 0; at < len(data); {
		n := bytes.IndexByte(data[at:], '\n') + 1
		if n == 0 {
			n = len(data) - at
		}
		at += n
		cuts = append(cuts, at)
	}
	t.data, t.cuts = data, cuts
}

// Len is the count of lines.
func (t Text) Len() int { return max(len(t.cuts)-1, 0) }

// Line returns line i, counted from 0, with its line feed.
func (t Text) Line(i int) []byte { return t.data[t.cuts[i]:t.cuts[i+1]] }

// Lines returns the bytes of the lines in r.
func (t Text) Lines(r Range) []byte {
	if r.Len() == 0 {
		return nil
	}
	return t.data[t.cuts[r.From]:t.cuts[r.To]]
}

// Bytes returns the whole text.
func (t Text) Bytes() []byte { return t.data }

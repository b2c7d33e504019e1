package search

import (
	"encoding/binary"
	"slices"
)

// A sketch is a Bloom filter of a content. It has a bit set for each sequence of four bytes in the content, whatever the
// case of their letters. Other sequences may set the same bit, so a sketch can rule a match out, but not promise one.
type sketch struct {
	bits  []uint64
	wide  bool  // the content has bytes that are not ASCII
	asked int64 // the number of the last search that asked for the sketch
}

const (
	gramSize = 4 // bytes

	// sketchShare is how many bytes of content there are to one byte of sketch: a fifth to a half of its bits are set
	// then.
	sketchShare = 16
)

// newSketch returns an empty sketch, for a content of size bytes.
func newSketch(size int64) *sketch { return &sketch{bits: make([]uint64, size/(8*sketchShare)+4)} }

// gramOf returns the first four bytes of p, with capital letters made small. Other bytes are changed too, all in the
// same way.
func gramOf(p []byte) uint32 { return binary.LittleEndian.Uint32(p) | 0x20202020 }

// gramAt returns the place of a gram's bit in n words.
func gramAt(gram uint32, n int) (word, mask uint64) {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	at := uint64(gram*spread) * uint64(n) >> (32 - 6)
	return at >> 6, 1 << (at & 63)
}

// add adds a part of the content. Parts overlap by one byte less than a gram has, unless no match can lie across the
// edge between them.
func (s *sketch) add(p []byte) {
	all := uint32(0)
	for ; len(p) >= gramSize; p = p[1:] {
		gram := gramOf(p)
		word, mask := gramAt(gram, len(s.bits))
		s.bits[word] |= mask
		all |= gram
	}
	for _, b := range p {
		all |= uint32(b)
	}
	s.wide = s.wide || all&0x80808080 != 0
}

// A probe asks a sketch about a need: may the content have one of its runs?
type probe []trace

// A trace is the mark that a run leaves in a sketch.
type trace struct {
	wide  bool // the run has a byte that is not ASCII
	grams []uint32
}

// probe returns the probe for a need; nil if one of its runs leaves no mark.
func (n need) probe() probe {
	var p probe
	for _, r := range n {
		t := trace{wide: r.wide()}
		for at := range r {
			if gram, ok := r[at:].gram(); ok {
				t.grams = append(t.grams, gram)
			}
		}
		if !t.wide && len(t.grams) == 0 {
			return nil // any content may have it
		}
		p = append(p, t)
	}
	return p
}

// wide reports whether a run has a byte that is not ASCII.
func (r run) wide() bool {
	for _, c := range r {
		if c[0]|c[1] == 0 {
			return true
		}
	}
	return false
}

// gram returns the four bytes that a run begins with; ok is false if they may differ in more than case.
func (r run) gram() (gram uint32, ok bool) {
	if len(r) < gramSize {
		return 0, false
	}
	var p [gramSize]byte
	for i := range p {
		value, _, ok := r[i].anchor()
		if !ok {
			return 0, false
		}
		p[i] = value
	}
	return gramOf(p[:]), true
}

// rulesOut reports whether the content has no run of one of the probes, and so no match.
func (s *sketch) rulesOut(probes []probe) bool {
	return slices.ContainsFunc(probes, func(p probe) bool {
		return !slices.ContainsFunc(p, s.mayHave)
	})
}

func (s *sketch) mayHave(t trace) bool {
	if t.wide && !s.wide {
		return false
	}
	for _, gram := range t.grams {
		if word, mask := gramAt(gram, len(s.bits)); s.bits[word]&mask == 0 {
			return false
		}
	}
	return true
}

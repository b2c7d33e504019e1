package vfs

import (
	"encoding/binary"
	"slices"
)

// A sketch tells what a content has not: it has a bit set for each four bytes that follow each other in the content,
// whatever the case of their letters. Others may set the same bit, so what a sketch does not rule out has to be
// searched for.
type sketch struct {
	bits  []uint64
	wide  bool  // it has bytes that are not ASCII
	asked int64 // by which search last
}

const (
	gramSize = 4 // bytes

	// sketchShare is how many bytes of content have one byte of sketch: a fifth to a half of its bits are set then.
	sketchShare = 16

	// maxSketched is how long a content may be that is sketched.
	maxSketched = sketchBytes / 16 * sketchShare
)

// newSketch returns the sketch of nothing, for a content of size bytes.
func newSketch(size int64) *sketch { return &sketch{bits: make([]uint64, size/(8*sketchShare)+4)} }

// gramOf returns the first four bytes of p, with capital letters made small. Other bytes are changed too, all in the
// same way.
func gramOf(p []byte) uint32 { return binary.LittleEndian.Uint32(p) | 0x20202020 }

// gramAt returns where in n words the bit of some bytes is.
func gramAt(gram uint32, n int) (word, mask uint64) {
	const spread = 0x9e3779b1 // 2^32 divided by the golden ratio
	at := uint64(gram*spread) * uint64(n) >> (32 - 6)
	return at >> 6, 1 << (at & 63)
}

// add notes a part of the content. The next one begins where this one ends, less one byte than a gram has; or where
// this one ends, if nothing is looked for across the edge.
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

// A probe asks a sketch for what a match needs: for one of its runs.
type probe []trace

// A trace is what a run leaves in a sketch.
type trace struct {
	wide  bool // it has a byte that is not ASCII
	grams []uint32
}

// probe returns the probe for a need; nil if there is nothing to ask for.
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
			return nil // it may be anywhere
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

// rulesOut reports whether a content has nothing of what one of some probes asks for, and so no match.
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

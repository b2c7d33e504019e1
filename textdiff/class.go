package textdiff

import (
	"bytes"
	"hash/maphash"
)

// A pair is two texts, and the middles in which they differ: without the pieces that both begin or end with. The pieces of
// the middles are numbered by class: two have the same class if and only if their bytes are equal. The search compares these
// numbers and nothing else.
type pair struct {
	a, b       Text
	head, tail int // how many pieces are common at the start, and at the end
	ofA, ofB   []uint32
	inA, inB   []int // how many pieces of the whole text have the class
	*scratch
}

// newPair finds the middles, byte by byte.
func newPair(a, b Text) *pair {
	p := &pair{a: a, b: b, scratch: scratches.Get().(*scratch)}
	short := min(a.Len(), b.Len())
	for p.head < short && bytes.Equal(a.Line(p.head), b.Line(p.head)) {
		p.head++
	}
	for p.tail < short-p.head && bytes.Equal(a.Line(a.Len()-1-p.tail), b.Line(b.Len()-1-p.tail)) {
		p.tail++
	}
	return p
}

// middles returns how many pieces are in the middle of either text.
func (p *pair) middles() (a, b int) {
	return p.a.Len() - p.head - p.tail, p.b.Len() - p.head - p.tail
}

// classify numbers the pieces of the middles, and counts those of each class in all of both texts.
func (p *pair) classify() {
	n, m := p.middles()
	table := newClasses(p)
	p.ofA = table.number(0, n)
	p.ofB = table.number(n, n+m)

	p.inA, p.inB = p.ints.take(len(table.first)), p.ints.take(len(table.first))
	for _, class := range p.ofA {
		p.inA[class]++
	}
	for _, class := range p.ofB {
		p.inB[class]++
	}
	for i := range p.head {
		table.count(p.a.Line(i))
	}
	for i := p.head + n; i < p.a.Len(); i++ {
		table.count(p.a.Line(i))
	}
}

// piece returns piece i of both middles: those of a, then those of b.
func (p *pair) piece(i int) []byte {
	if n, _ := p.middles(); i >= n {
		return p.b.Line(p.head + i - n)
	}
	return p.a.Line(p.head + i)
}

// classes numbers the pieces of a pair in the order in which they are first seen. It is an open hash table that never
// grows, with a seed of its own: no text can be written so that its lines collide.
type classes struct {
	*pair
	seed  maphash.Seed
	slots []slot
	first []int // the first piece of each class
}

// A slot is free, and zero, or holds a class plus one and a part of its hash.
type slot struct{ hash, number uint32 }

// newClasses makes a table for the middles of p.
func newClasses(p *pair) *classes {
	n, m := p.middles()
	size := 8
	for size < n+m+(n+m)/2 {
		size *= 2
	}
	return &classes{p, maphash.MakeSeed(), p.slots.take(size), p.ints.take(n + m)[:0]}
}

// number returns the classes of the pieces from up to to. A piece that equals none before it gets a new one.
func (c *classes) number(from, to int) []uint32 {
	list := c.scratch.classes.take(to - from)
	for i := range list {
		s, hash := c.find(c.piece(from + i))
		if s.number == 0 {
			c.first = append(c.first, from+i)
			*s = slot{hash, uint32(len(c.first))}
		}
		list[i] = s.number - 1
	}
	return list
}

// count counts a piece that both texts have, if a piece of the middles equals it.
func (c *classes) count(piece []byte) {
	if s, _ := c.find(piece); s.number > 0 {
		c.inA[s.number-1]++
		c.inB[s.number-1]++
	}
}

// find returns the slot of the class of piece, or the free one where it belongs, and the hash that a slot keeps.
func (c *classes) find(piece []byte) (*slot, uint32) {
	hash := maphash.Bytes(c.seed, piece)
	mask := len(c.slots) - 1
	for at := int(hash>>32) & mask; ; at = (at + 1) & mask {
		s := &c.slots[at]
		if s.number == 0 || s.hash == uint32(hash) && bytes.Equal(c.piece(c.first[s.number-1]), piece) {
			return s, uint32(hash)
		}
	}
}

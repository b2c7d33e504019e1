package textdiff

import "sync"

// A scratch is the memory of one comparison, which later ones use again: a patch compares many short texts.
type scratch struct {
	ints    stock[int]
	classes stock[uint32]
	flags   stock[bool]
	slots   stock[slot]
	counts  stock[uint8]
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// free gives the memory back. Nothing that was taken from it may be used afterwards.
func (s *scratch) free() {
	s.ints.free()
	s.classes.free()
	s.flags.free()
	s.slots.free()
	s.counts.free()
	scratches.Put(s)
}

// A stock is memory for slices of one type.
type stock[T any] struct{ all, left []T }

// maxStock is how many elements a stock keeps for later.
const maxStock = 1 << 18

// take returns n zero elements.
func (s *stock[T]) take(n int) []T {
	if n > len(s.left) {
		s.all = make([]T, max(n, 2*len(s.all)))
		s.left = s.all
	}
	part := s.left[:n:n]
	s.left = s.left[n:]
	clear(part)
	return part
}

func (s *stock[T]) free() {
	if len(s.all) > maxStock {
		s.all = nil
	}
	s.left = s.all
}

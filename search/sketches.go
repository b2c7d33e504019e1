package search

import (
	"sync"

	"vfsdb/chunk"
	"vfsdb/tree"
)

// sketches remember the contents that this process has searched, and verified for that: a sketch of a text, and that a
// content is binary. The content of a committed row never changes, and no row number is given out twice, so sketches stay
// valid as long as the store is open. They are safe for concurrent use.
type sketches struct {
	mu     sync.Mutex
	all    map[chunk.Content]*sketch
	bytes  int
	binary map[chunk.Content]bool

	searches int64 // how many there were
	swept    int64 // the number of the search that last made room
}

// sketchesKey is the slot of the store that holds its sketches.
type sketchesKey struct{}

// sketchesOf returns the sketches of a store.
func sketchesOf(tx *tree.Tx) *sketches {
	return tx.Slot(sketchesKey{}, func() any { return new(sketches) }).(*sketches)
}

const (
	// sketchBytes bounds the memory of sketches. It holds those of 128 MiB of text.
	sketchBytes = 8 << 20

	// maxSketched bounds the length of a content that is sketched.
	maxSketched = sketchBytes / 16 * sketchShare

	// sketchSearches is how many searches must pass a sketch by before it makes room for others.
	sketchSearches = 16

	// maxBinaries bounds the contents that are remembered as binary.
	maxBinaries = 1 << 16
)

// begin counts a search, and reports whether it should sketch the contents that it reads. The first search of a store does
// not, since it may be the only one.
//
// When memory is full, the sketches that are there stay, unless no search asks for them. So where searches read more
// than there is room for, they know the same part of it each time.
func (s *sketches) begin() (search int64, learn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.searches++
	if s.full() && s.searches-s.swept > sketchSearches {
		for content, k := range s.all {
			if s.searches-k.asked > sketchSearches {
				delete(s.all, content)
				s.bytes -= k.cost()
			}
		}
		s.swept = s.searches
	}
	return s.searches, s.searches > 1 && !s.full()
}

// full reports whether there is hardly any room left.
func (s *sketches) full() bool { return s.bytes > sketchBytes-sketchBytes/16 }

// cost returns the memory that a sketch takes, with its place in the map.
func (k *sketch) cost() int { return 8*len(k.bits) + 112 }

// of returns the sketch of a content for a search, or nil.
func (s *sketches) of(content chunk.Content, search int64) *sketch {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.all[content]
	if k != nil {
		k.asked = search
	}
	return k
}

// put adds the sketch of a content that a search has made, if there is room.
func (s *sketches) put(content chunk.Content, k *sketch, search int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[content] != nil || s.bytes+k.cost() > sketchBytes {
		return
	}
	if s.all == nil {
		s.all = make(map[chunk.Content]*sketch)
	}
	k.asked = search
	s.all[content] = k
	s.bytes += k.cost()
}

// isBinary reports whether the content is known to look binary.
func (s *sketches) isBinary(content chunk.Content) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.binary[content]
}

// putBinary adds a content that looks binary.
func (s *sketches) putBinary(content chunk.Content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.binary == nil || len(s.binary) >= maxBinaries {
		s.binary = make(map[chunk.Content]bool)
	}
	s.binary[content] = true
}

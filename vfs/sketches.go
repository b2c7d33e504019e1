package vfs

import (
	"sync"

	"vfsdb/chunk"
)

// sketches are those of contents that this process has searched, and verified for that. The content of a committed row
// never changes, and no row is given out twice, so they hold as long as the store is open. They are safe for concurrent
// use.
type sketches struct {
	mu    sync.Mutex
	all   map[chunk.Content]*sketch
	bytes int

	searches int64 // how many there were
	swept    int64 // which of them has last made room
}

const (
	// sketchBytes is how much memory sketches take at most: those of 128 MiB of text.
	sketchBytes = 8 << 20

	// sketchSearches is how many searches a sketch stays for that none of them asks for, when there is no room for
	// others.
	sketchSearches = 16
)

// begin counts a search, and reports whether it should sketch what it reads: the first one of a store need not, since
// it may be the only one. When memory is full, those that are there stay, unless nobody asks for them: where more is
// searched than there is room for, the same part of it is known each time.
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

// full reports whether there is hardly any room.
func (s *sketches) full() bool { return s.bytes > sketchBytes-sketchBytes/16 }

// cost is how much memory a sketch takes, with its place among the others.
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

// put keeps the sketch of a content that a search has made, if there is room.
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

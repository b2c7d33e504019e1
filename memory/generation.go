package memory

import "vfsdb/schema"

// A Generation is the time from a commit to the next, by any process. The header of SQLite's log, in memory that all
// processes share, names the moment that the file is in, so that a look of some nanoseconds finds out whether the
// generation has ended. Where there is no such header, nothing is cached across transactions that read.
type Generation struct {
	mark  schema.Mark
	n     uint64 // its number
	since uint64 // the oldest generation whose entries are valid in this one, as far as they are there

	// A reader that finds a new mark begins a generation in which nothing older is valid. If it turns out that the commit
	// was one of this process, these say which generation came before.
	begun  bool // by a reader
	before schema.Mark
	older  uint64 // since, of the one before
}

// over returns the generation after a commit of this process, which led from one moment to another. It is nil if the
// cached entries are of neither.
func (g *Generation) over(before, after schema.Mark) *Generation {
	switch {
	case g.mark == before:
		return &Generation{mark: after, n: g.n + 1, since: g.since}
	case g.mark == after && g.begun && g.before == before:
		// A reader came in between. Its entries are valid, and the older ones are valid again.
		return &Generation{mark: after, n: g.n, since: g.older}
	}
	return nil
}

// Current returns the generation of this moment; nil if there is none, because nobody has read since the last commit.
func (s *Shared) Current() *Generation {
	g := s.gen.Load()
	if g == nil {
		return nil
	}
	if mark, ok := s.db.Mark(); !ok || mark != g.mark {
		return nil
	}
	return g
}

// of returns the generation that a transaction sees, and begins it if it sees the present moment. It returns nil if the
// transaction has no mark, or its moment is over.
func (s *Shared) of(tx *schema.Tx) *Generation {
	if s.gen.Load() == nil {
		s.open()
	}
	mark, ok := tx.Mark()
	if !ok {
		return nil
	}
	if g := s.gen.Load(); g.mark == mark {
		return g
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	g := s.gen.Load()
	if g.mark == mark {
		return g
	}
	if now, ok := s.db.Mark(); !ok || now != mark {
		return nil // a later generation may have begun
	}
	next := &Generation{mark: mark, n: g.n + 1, since: g.n + 1, begun: true, before: g.mark, older: g.since}
	s.gen.Store(next)
	return next
}

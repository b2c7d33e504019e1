package vfs

import "vfsdb/schema"

// A generation is the time from a commit to the next, by any process. The header of SQLite's log, in memory that all
// processes share, names the moment that the file is in, so that a look of some nanoseconds finds out whether the
// generation has ended. Where there is no such header, nothing is cached across transactions that read.
type generation struct {
	mark  schema.Mark
	n     uint64 // its number
	since uint64 // the oldest generation whose entries are valid in this one, as far as they are there
}

// current returns the generation of this moment; nil if there is none, because nobody has read since the last commit.
func (s *sharedCache) current() *generation {
	g := s.gen.Load()
	if g == nil {
		return nil
	}
	if mark, ok := s.db.Mark(); !ok || mark != g.mark {
		return nil
	}
	return g
}

// of returns the generation of what a transaction sees, and begins it if that is the present moment. It returns nil if
// that moment is not known, or is over.
func (s *sharedCache) of(tx *schema.Tx) *generation {
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
	next := &generation{mark: mark, n: g.n + 1, since: g.n + 1}
	s.gen.Store(next)
	return next
}

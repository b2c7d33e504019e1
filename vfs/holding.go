package vfs

import (
	"slices"
	"sync"

	"vfsdb/schema"
)

// A holding tells of which directories and inodes a level has rows, so that a look-up passes over levels that say
// nothing about it. The rows of a level above the first never change, so what is learnt once is right for good: gc may
// take some, and a level that is asked in vain does no harm. A nil holding may have rows of anything.
type holding struct {
	dirs []Ino // with entries, ascending
	inos []Ino
}

// maxHolding bounds the rows that are read to learn a holding: a level with more is asked each time.
const maxHolding = 256

func (h *holding) hasDir(dir Ino) bool { return h == nil || found(h.dirs, dir) }
func (h *holding) hasIno(ino Ino) bool { return h == nil || found(h.inos, ino) }

func found(list []Ino, ino Ino) bool {
	_, ok := slices.BinarySearch(list, ino)
	return ok
}

// holdings are those that a store has learnt, shared by all trees that are read through the same levels.
type holdings struct {
	mu    sync.Mutex
	known map[level]*holding
}

// of returns the holdings of a lineage, reading those that are not known. The first level may still change, and the
// last is where all that was not changed comes from, so of these nothing is told.
func (s *holdings) of(db *schema.Tx, levels []level) ([]*holding, error) {
	list := make([]*holding, len(levels))
	for i := 1; i < len(levels)-1; i++ {
		h, ok := s.recall(levels[i])
		if !ok {
			var err error
			if h, err = readHolding(db, levels[i]); err != nil {
				return nil, err
			}
			if db.Writable() { // the level may be one that there is not, in the end
				db.AfterCommit(func() { s.keep(levels[i], h) })
			} else {
				s.keep(levels[i], h)
			}
		}
		list[i] = h
	}
	return list, nil
}

func (s *holdings) recall(l level) (*holding, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.known[l]
	return h, ok
}

func (s *holdings) keep(l level, h *holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= 1<<10 {
		s.known = make(map[level]*holding)
	}
	s.known[l] = h
}

// readHolding reads what a level has rows of; nil if those are too many.
func readHolding(db *schema.Tx, l level) (*holding, error) {
	dirs, ok, err := keysOf(db, `SELECT parent, born <= ?2 AND died > ?2 FROM dirent WHERE branch = ?1 ORDER BY parent`, l)
	if err != nil || !ok {
		return nil, err
	}
	inos, ok, err := keysOf(db, `SELECT ino, born <= ?2 AND died > ?2 FROM inode WHERE branch = ?1 ORDER BY ino`, l)
	if err != nil || !ok {
		return nil, err
	}
	return &holding{dirs: dirs, inos: inos}, nil
}

// keysOf returns the keys of the rows that a level shows, in order; not ok if it has too many rows.
func keysOf(db *schema.Tx, text string, l level) (keys []Ino, ok bool, err error) {
	rows := db.Query(text, l.branch, l.cap)
	defer rows.Close()
	for n := 0; rows.Next(); n++ {
		if n == maxHolding {
			return nil, false, nil
		}
		if key := Ino(rows.Int(0)); rows.Int(1) == 1 && (len(keys) == 0 || keys[len(keys)-1] != key) {
			keys = append(keys, key)
		}
	}
	return keys, true, rows.Err()
}

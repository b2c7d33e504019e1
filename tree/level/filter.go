package level

import (
	"slices"
	"sync"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// A Filter lists the directories and inodes that a level of a lineage has rows of, so that a look-up skips the
// levels that cannot answer it. The rows of a level above the first never change, so a filter is valid for good: gc may
// take rows away, and to ask a level in vain does no harm. A nil filter skips nothing.
type Filter struct {
	dirs  []node.Ino // with entries, ascending
	named []node.Ino // that entries show
	inos  []node.Ino
}

// MaxFiltered bounds the rows that are read to make a filter: a level with more is asked each time.
const MaxFiltered = 256

// MayHaveDir reports whether the level may have entries of a directory.
func (f *Filter) MayHaveDir(dir node.Ino) bool { return f == nil || contains(f.dirs, dir) }

// MayHaveIno reports whether the level may have a row of an inode.
func (f *Filter) MayHaveIno(ino node.Ino) bool { return f == nil || contains(f.inos, ino) }

// mayName reports whether the level may have entries that show an inode.
func (f *Filter) mayName(ino node.Ino) bool { return f == nil || contains(f.named, ino) }

func contains(list []node.Ino, ino node.Ino) bool {
	_, ok := slices.BinarySearch(list, ino)
	return ok
}

// Filters are the filters that a store has made, shared by all trees that are read through the same levels. Several
// goroutines may use it at once.
type Filters struct {
	mu   sync.Mutex
	made map[history.Level]*Filter
}

// maxFilters bounds how many there are. When there are more, all are dropped.
const maxFilters = 1 << 10

// Of returns the filters of a lineage, one for each level. The first level may still change, and the last is where all
// comes from that was not changed, so these two have none.
func (s *Filters) Of(db *schema.Tx, levels []history.Level) ([]*Filter, error) {
	list := make([]*Filter, len(levels))
	for i := 1; i < len(levels)-1; i++ {
		f, ok := s.get(levels[i])
		if !ok {
			var err error
			if f, err = readFilter(db, levels[i]); err != nil {
				return nil, err
			}
			if db.Writable() { // the level may be rolled back
				db.AfterCommit(func() { s.put(levels[i], f) })
			} else {
				s.put(levels[i], f)
			}
		}
		list[i] = f
	}
	return list, nil
}

func (s *Filters) get(l history.Level) (*Filter, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.made[l]
	return f, ok
}

func (s *Filters) put(l history.Level, f *Filter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil || len(s.made) >= maxFilters {
		s.made = make(map[history.Level]*Filter)
	}
	s.made[l] = f
}

// Now returns the filters with one of the first level of a fork as it is now. It is valid until a row of that is written.
func Now(db *schema.Tx, levels []history.Level, filters []*Filter) ([]*Filter, error) {
	if len(levels) == 1 {
		return filters, nil
	}
	first, err := readFilter(db, levels[0])
	if err != nil {
		return nil, err
	}
	return append([]*Filter{first}, filters[1:]...), nil
}

// readFilter makes the filter of a level; nil if it has too many rows.
func readFilter(db *schema.Tx, l history.Level) (*Filter, error) {
	dirs, ok, err := keysOf(db, `SELECT parent, born <= ?2 AND died > ?2 FROM dirent WHERE branch = ?1 ORDER BY parent`, l)
	if err != nil || !ok {
		return nil, err
	}
	named, _, err := keysOf(db, `SELECT ino, born <= ?2 AND died > ?2 AND ino IS NOT NULL FROM dirent WHERE branch = ?1`, l)
	if err != nil {
		return nil, err
	}
	inos, ok, err := keysOf(db, `SELECT ino, born <= ?2 AND died > ?2 FROM inode WHERE branch = ?1 ORDER BY ino`, l)
	if err != nil || !ok {
		return nil, err
	}
	slices.Sort(named)
	return &Filter{dirs: dirs, named: named, inos: inos}, nil
}

// keysOf returns the keys of the rows that a level shows, in order; not ok if it has too many rows.
func keysOf(db *schema.Tx, text string, l history.Level) (keys []node.Ino, ok bool, err error) {
	rows := db.Query(text, l.Branch, l.Cap)
	defer rows.Close()

	for n := 0; rows.Next(); n++ {
		if n == MaxFiltered {
			return nil, false, nil
		}
		if key := node.Ino(rows.Int(0)); rows.Int(1) == 1 && (len(keys) == 0 || keys[len(keys)-1] != key) {
			keys = append(keys, key)
		}
	}
	return keys, true, rows.Err()
}

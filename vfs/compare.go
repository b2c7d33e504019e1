package vfs

import (
	"context"
	"slices"
	"syscall"

	"vfsdb/schema"
)

// A Delta is what differs between two trees, as rows: entries and inodes, whose times count too. A directory that lost
// its name takes along what is below it without a row for each, so those are not in it.
type Delta struct {
	Names  []NameChange
	Inodes []InodeChange
}

// A NameChange is an entry that shows another inode, or none, in one of the trees.
type NameChange struct {
	Name
	Old, New Ino // 0: no such entry
}

// An InodeChange is an inode that differs between the trees; nil where a tree does not have it.
type InodeChange struct {
	Ino      Ino
	Old, New *Info
}

// ViewBoth runs fn on two trees of one store at one moment. Trees of two stores are EXDEV.
func ViewBoth(ctx context.Context, a, b *FS, fn func(a, b *Tx) error) error {
	if a.store != b.store {
		return syscall.EXDEV
	}
	return a.store.db.View(ctx, func(db *schema.Tx) error {
		atx, err := a.begin(db)
		if err != nil {
			return err
		}
		btx, err := b.begin(db)
		if err != nil {
			return err
		}
		return fn(atx, btx)
	})
}

// Compare returns what differs between two trees that are read in one transaction. Its cost grows with what was
// changed since the trees were one, not with their size.
func Compare(a, b *Tx) (*Delta, error) {
	names, inos, err := changedKeys(a, b)
	if err != nil {
		return nil, err
	}
	d := &Delta{}
	for _, name := range names {
		old, err := a.lookup(name.Dir, name.Base)
		if err != nil {
			return nil, err
		}
		now, err := b.lookup(name.Dir, name.Base)
		if err != nil {
			return nil, err
		}
		if old.ino != now.ino {
			d.Names = append(d.Names, NameChange{name, old.ino, now.ino})
		}
	}
	for _, ino := range inos {
		old, err := a.inode(ino)
		if err != nil {
			return nil, err
		}
		now, err := b.inode(ino)
		if err != nil {
			return nil, err
		}
		if sameRow(old, now) {
			continue
		}
		change := InodeChange{Ino: ino}
		if old != nil {
			change.Old = newInfo("", old)
		}
		if now != nil {
			change.New = newInfo("", now)
		}
		d.Inodes = append(d.Inodes, change)
	}
	return d, nil
}

// sameRow reports whether two views of an inode are equal, wherever their rows stand.
func sameRow(a, b *inode) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.level, x.born, y.level, y.born = 0, 0, 0, 0
	return x == y
}

// A stretch is a part of a lineage in which a tree may differ from its common past: the rows of a branch that were
// born or died in (lo, hi]. lo 0 means all rows.
type stretch struct {
	branch, lo, hi int64
}

// changedKeys lists the entries and inodes that may differ between two trees: those touched on either side since
// the moment that both descend from.
func changedKeys(a, b *Tx) ([]Name, []Ino, error) {
	names, inos := make(map[Name]bool), make(map[Ino]bool)
	for _, w := range stretches(a.fsys.levels, b.fsys.levels) {
		if err := w.collect(a.db, names, inos); err != nil {
			return nil, nil, err
		}
	}
	return sortedNames(names), sortedInos(inos), nil
}

// stretches finds the nearest branch that both lineages lead through. What each side has above it differs, and in it
// what happened between the two moments.
func stretches(a, b []level) []stretch {
	for i, l := range a {
		j := slices.IndexFunc(b, func(m level) bool { return m.branch == l.branch })
		if j < 0 {
			continue
		}
		list := append(whole(a[:i]), whole(b[:j])...)
		lo, hi := min(l.cap, b[j].cap), max(l.cap, b[j].cap)
		if lo != hi {
			list = append(list, stretch{l.branch, lo, hi})
		}
		return list
	}
	return append(whole(a), whole(b)...)
}

func whole(levels []level) []stretch {
	var list []stretch
	for _, l := range levels {
		list = append(list, stretch{l.branch, 0, l.cap})
	}
	return list
}

func (w stretch) collect(db *schema.Tx, names map[Name]bool, inos map[Ino]bool) error {
	dirents := []string{`SELECT parent, name FROM dirent WHERE branch = ?1 AND born <= ?2 AND died > ?2`}
	inodes := []string{`SELECT ino FROM inode WHERE branch = ?1 AND born <= ?2 AND died > ?2`}
	args := []any{w.branch, w.hi}
	if w.lo > 0 {
		// The literals let the partial indexes on born and died serve.
		dirents = []string{
			`SELECT parent, name FROM dirent WHERE branch = ?1 AND born > 2 AND born > ?3 AND born <= ?2`,
			`SELECT parent, name FROM dirent WHERE branch = ?1 AND died > ?3 AND died <= ?2 AND died < 9223372036854775807`,
		}
		inodes = []string{
			`SELECT ino FROM inode WHERE branch = ?1 AND born > 2 AND born > ?3 AND born <= ?2`,
			`SELECT ino FROM inode WHERE branch = ?1 AND died > ?3 AND died <= ?2 AND died < 9223372036854775807`,
		}
		args = append(args, w.lo)
	}
	for _, text := range dirents {
		rows := db.Query(text, args...)
		for rows.Next() {
			names[Name{Ino(rows.Int(0)), rows.Text(1)}] = true
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	for _, text := range inodes {
		rows := db.Query(text, args...)
		for rows.Next() {
			inos[Ino(rows.Int(0))] = true
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

func sortedNames(set map[Name]bool) []Name {
	list := make([]Name, 0, len(set))
	for name := range set {
		list = append(list, name)
	}
	slices.SortFunc(list, Name.compare)
	return list
}

func sortedInos(set map[Ino]bool) []Ino {
	list := make([]Ino, 0, len(set))
	for ino := range set {
		list = append(list, ino)
	}
	slices.Sort(list)
	return list
}

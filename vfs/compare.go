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
	for _, tx := range []*Tx{a, b} {
		if err := tx.flush(); err != nil {
			return nil, err
		}
	}
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

// changedKeys lists the entries and inodes that may differ between two trees: those that one of them shows in levels
// which the other does not have, or has at another moment. Of most, what they show is kept in memory on the way, for who
// looks at the keys next.
func changedKeys(a, b *Tx) ([]Name, []Ino, error) {
	pairs := &a.fsys.store.facts.pairs
	fact := pairFact{a.fsys.at, b.fsys.at}
	if a.era != nil {
		if k, known := pairs.get(a.era, fact); known {
			return k.names, k.inos, nil
		}
	}
	names, inos := make(map[Name]bool), make(map[Ino]bool)
	for _, w := range stretches(a, b) {
		if err := w.collect(names, inos); err != nil {
			return nil, nil, err
		}
	}
	k := &keys{sortedNames(names), sortedInos(inos)}
	if a.era != nil && len(names)+len(inos) <= maxKeys {
		pairs.put(a.era, fact, k)
	}
	return k.names, k.inos, nil
}

// keys are of entries and inodes, in order. They are shared, and nobody changes them.
type keys struct {
	names []Name
	inos  []Ino
}

// maxKeys bounds what is kept in memory of a comparison.
const maxKeys = 1 << 12

// A stretch is what one level of a tree may show and the other tree may not.
type stretch struct {
	tx    *Tx
	level int
	*pick
	args []any
}

// A pick is what selects rows of a level: the branch is ?1, the moment ?2.
type pick struct {
	dirents, inodes string
	values          bool // the rows are those that the level shows, and whole; else only keys
}

// The literals let the partial indexes on born and died serve. Where a branch has a long history, most rows in an index
// are of what no longer stands, so the index alone must tell: a row costs more than a key.
var (
	standing = &pick{
		`SELECT parent, name, ino, kind, born FROM dirent WHERE branch = ?1 AND born <= ?2 AND died > ?2`,
		`SELECT ` + inodeColumns + `, ino FROM inode WHERE branch = ?1 AND born <= ?2 AND died > ?2`,
		true,
	}
	// bornAfter is what stands at ?2, and did not at ?3.
	bornAfter = &pick{
		`SELECT parent, name, ino, kind, born FROM (SELECT parent AS p, name AS n, died AS d FROM dirent
			WHERE branch = ?1 AND born > 2 AND born > ?3 AND born <= ?2 AND died > ?2)
			CROSS JOIN dirent ON branch = ?1 AND parent = p AND name = n AND died = d`,
		`SELECT ` + inodeColumns + `, ino FROM (SELECT ino AS i, died AS d FROM inode
			WHERE branch = ?1 AND born > 2 AND born > ?3 AND born <= ?2 AND died > ?2)
			CROSS JOIN inode ON branch = ?1 AND ino = i AND died = d`,
		true,
	}
	// diedUntil is what stood at ?2, or came later, and does not stand at ?3 any more.
	diedUntil = &pick{
		`SELECT parent, name FROM dirent WHERE branch = ?1 AND died > ?2 AND died <= ?3 AND died < 9223372036854775807`,
		`SELECT ino FROM inode WHERE branch = ?1 AND died > ?2 AND died <= ?3 AND died < 9223372036854775807`,
		false,
	}
)

// stretches finds the nearest branch that both lineages lead through. What each side has above it differs, and in it
// what happened between the two moments. The levels of a tree are in order, nearest first.
func stretches(a, b *Tx) []stretch {
	for i, l := range a.fsys.levels {
		j := slices.IndexFunc(b.fsys.levels, func(m level) bool { return m.branch == l.branch })
		if j < 0 {
			continue
		}
		list := append(a.whole(i), b.whole(j)...)
		was, is := stretch{tx: a, level: i, pick: diedUntil}, stretch{tx: b, level: j, pick: bornAfter}
		lo, hi := l.cap, b.fsys.levels[j].cap
		if lo > hi {
			was.tx, was.level, is.tx, is.level = b, j, a, i
			lo, hi = hi, lo
		}
		if lo < hi {
			was.args, is.args = []any{l.branch, lo, hi}, []any{l.branch, hi, lo}
			list = append(list, was, is)
		}
		return list
	}
	return append(a.whole(len(a.fsys.levels)), b.whole(len(b.fsys.levels))...)
}

// whole is all of the first n levels.
func (tx *Tx) whole(n int) []stretch {
	var list []stretch
	for i, l := range tx.fsys.levels[:n] {
		list = append(list, stretch{tx, i, standing, []any{l.branch, l.cap}})
	}
	return list
}

// collect adds the keys of the rows. A row is what the tree shows, unless a nearer level has said so before.
func (w stretch) collect(names map[Name]bool, inos map[Ino]bool) error {
	tx := w.tx
	rows := tx.db.Query(w.dirents, w.args...)
	for rows.Next() {
		key := nameKey{Ino(rows.Int(0)), rows.Text(1)}
		names[Name{key.dir, key.name}] = true
		if !w.values {
			continue
		}
		if _, known := tx.knownName(key); !known {
			tx.learnName(key, dirent{ino: Ino(rows.Int(2)), kind: uint8(rows.Int(3)), level: w.level, born: rows.Int(4)})
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rows = tx.db.Query(w.inodes, w.args...)
	for rows.Next() {
		if !w.values {
			inos[Ino(rows.Int(0))] = true
			continue
		}
		ino := Ino(rows.Int(13))
		inos[ino] = true
		if _, known := tx.knownNode(ino); !known {
			n := scanInode(rows, ino, w.level)
			tx.learnNode(ino, n.orNil())
		}
	}
	return rows.Err()
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

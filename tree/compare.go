package tree

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"syscall"

	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree/level"
)

// A Delta is the difference between two trees, as rows: entries and inodes, whose times count too. If a directory lost its
// name, the files below it are gone without a row for each, so the Delta does not list them.
type Delta struct {
	Names  []NameChange
	Inodes []InodeChange
}

// A NameChange is an entry that shows another inode, or none, in one of the trees.
type NameChange struct {
	node.Name
	Old, New node.Ino // 0: no such entry
}

// An InodeChange is an inode that differs between the trees; nil where a tree does not have it.
type InodeChange struct {
	Ino      node.Ino
	Old, New *node.Info
}

// ViewBoth runs fn on two trees of one store at one moment. Trees of two stores are EXDEV.
func ViewBoth(ctx context.Context, a, b *Tree, fn func(a, b *Tx) error) error {
	if a.store != b.store {
		return syscall.EXDEV
	}
	return a.store.db.View(ctx, func(db *schema.Tx) error {
		atx, err := a.Begin(db)
		if err != nil {
			return err
		}
		btx, err := b.Begin(db)
		if err != nil {
			return err
		}
		return fn(atx, btx)
	})
}

// window is how many inodes are read at once.
const window = 1024

// Compare returns what differs between two trees that are read in one transaction. Its cost grows with what was
// changed since the trees were one, not with their size. Trees of two stores are EXDEV.
func Compare(a, b *Tx) (*Delta, error) {
	if a.tree.store != b.tree.store {
		return nil, syscall.EXDEV
	}
	for _, tx := range []*Tx{a, b} {
		if err := tx.Flush(); err != nil {
			return nil, err
		}
	}
	names, inos, err := changedKeys(a, b)
	if err != nil {
		return nil, err
	}

	d := &Delta{}
	for _, name := range names {
		old, err := a.Lookup(name.Dir, name.Base)
		if err != nil {
			return nil, err
		}
		now, err := b.Lookup(name.Dir, name.Base)
		if err != nil {
			return nil, err
		}
		if old.Ino != now.Ino {
			d.Names = append(d.Names, NameChange{name, old.Ino, now.Ino})
		}
	}

	for i, ino := range inos {
		if i%window == 0 {
			list := inos[i:min(i+window, len(inos))]
			if err := cmp.Or(a.FindNodes(list), b.FindNodes(list)); err != nil {
				return nil, err
			}
		}
		old, err := a.Node(ino)
		if err != nil {
			return nil, err
		}
		now, err := b.Node(ino)
		if err != nil {
			return nil, err
		}
		if node.Same(old, now) {
			continue
		}

		d.Inodes = append(d.Inodes, InodeChange{ino, node.InfoOf(old), node.InfoOf(now)})
	}
	return d, nil
}

// changedKeys lists the entries and inodes that may differ between two trees: those that one of them shows in levels
// which the other does not have, or has at another moment. Their entries and inodes are cached on the way, as far as
// there is room, because the caller looks at them next.
func changedKeys(a, b *Tx) ([]node.Name, []node.Ino, error) {
	if k, known := a.mem.Pair(b.tree.at); known {
		return k.Names, k.Inos, nil
	}
	d := differing{make(map[node.Name]shownBy), make(map[node.Ino]shownBy)}
	for _, w := range stretches(a, b) {
		if err := w.collect(d); err != nil {
			return nil, nil, err
		}
	}
	if len(a.tree.levels) == 1 && len(b.tree.levels) == 1 {
		a.fillAbsent(d, byOld)
		b.fillAbsent(d, byNew)
	}
	k := &memory.Keys{Names: slices.SortedFunc(maps.Keys(d.names), node.Name.Compare), Inos: slices.Sorted(maps.Keys(d.inos))}
	a.mem.PutPair(b.tree.at, k)
	return k.Names, k.Inos, nil
}

// A differing is what was found to differ, and which of the trees have a row of it that counts.
type differing struct {
	names map[node.Name]shownBy
	inos  map[node.Ino]shownBy
}

// shownBy says which trees, in bits.
type shownBy uint8

const (
	byOld shownBy = 1 << iota
	byNew
)

// note adds the key of a row of one tree. It reports whether the row is what the tree shows: the first of the key that
// counts.
func note[K comparable](set map[K]shownBy, key K, side shownBy, counts bool) bool {
	by := set[key]
	shows := counts && by&side == 0
	if shows {
		by |= side
	}
	set[key] = by
	return shows
}

// A stretch is what one level of a tree may show and the other tree may not.
type stretch struct {
	tx    *Tx
	side  shownBy
	level int
	*pick
	args []any
}

// A pick is what selects rows of a level: the branch is ?1, the moment ?2. Of a key that came and went later it may
// select a row too, which its born shows.
type pick struct {
	dirents, inodes string
}

// The literals let the partial indexes on born and died serve. They come last: SQLite seeks by the first of two bounds on one
// side, and compares row by row with the other. In a branch with a long history, most rows of an index are
// dead, so the index alone must decide which to read: a row costs more than a key.
var (
	standing = &pick{
		`SELECT parent, name, ino, kind, born FROM dirent WHERE branch = ?1 AND born <= ?2 AND died > ?2`,
		`SELECT ` + inodeColumns + `, ino FROM inode WHERE branch = ?1 AND born <= ?2 AND died > ?2`,
	}
	// bornAfter is what stands at ?2, and did not at ?3.
	bornAfter = &pick{
		`SELECT parent, name, ino, kind, born FROM (SELECT parent AS p, name AS n, died AS d FROM dirent
			WHERE branch = ?1 AND born > ?3 AND born > 2 AND born <= ?2 AND died > ?2)
			CROSS JOIN dirent ON branch = ?1 AND parent = p AND name = n AND died = d`,
		`SELECT ` + inodeColumns + `, ino FROM (SELECT ino AS i, died AS d FROM inode
			WHERE branch = ?1 AND born > ?3 AND born > 2 AND born <= ?2 AND died > ?2)
			CROSS JOIN inode ON branch = ?1 AND ino = i AND died = d`,
	}
	// diedUntil is what stood at ?2, or else came later, and did not stand at ?3 any more: of each key the first row.
	diedUntil = &pick{
		`SELECT parent, name, ino, kind, born FROM (SELECT parent AS p, name AS n, min(died) AS d FROM dirent
			WHERE branch = ?1 AND died > ?2 AND died <= ?3 AND died < 9223372036854775807 GROUP BY parent, name)
			CROSS JOIN dirent ON branch = ?1 AND parent = p AND name = n AND died = d`,
		`SELECT ` + inodeColumns + `, ino FROM (SELECT ino AS i, min(died) AS d FROM inode
			WHERE branch = ?1 AND died > ?2 AND died <= ?3 AND died < 9223372036854775807 GROUP BY ino)
			CROSS JOIN inode ON branch = ?1 AND ino = i AND died = d`,
	}
)

// stretches finds the nearest branch that both lineages lead through. What each side has above it differs, and in it
// what happened between the two moments. The levels of a tree are in order, nearest first.
func stretches(a, b *Tx) []stretch {
	i, j := level.Meet(a.tree.levels, b.tree.levels)
	list := append(a.whole(byOld, i), b.whole(byNew, j)...)
	if i == len(a.tree.levels) {
		return list
	}

	was, is := stretch{tx: a, side: byOld, level: i}, stretch{tx: b, side: byNew, level: j}
	branch, lo, hi := a.tree.levels[i].Branch, a.tree.levels[i].Cap, b.tree.levels[j].Cap
	if lo > hi {
		was, is = is, was
		lo, hi = hi, lo
	}
	if lo < hi {
		was.pick, was.args = diedUntil, []any{branch, lo, hi}
		is.pick, is.args = bornAfter, []any{branch, hi, lo}
		list = append(list, was, is)
	}
	return list
}

// whole is all of the first n levels.
func (tx *Tx) whole(side shownBy, n int) []stretch {
	var list []stretch
	for i, l := range tx.tree.levels[:n] {
		list = append(list, stretch{tx, side, i, standing, []any{l.Branch, l.Cap}})
	}
	return list
}

// collect adds the keys of the rows. A row is what the tree shows, unless a nearer level has a row of the same key, or it
// was born later. The cache may have dropped what a nearer level shows, so it cannot answer that; the set of keys can.
func (w stretch) collect(d differing) error {
	tx, limit := w.tx, w.tx.tree.levels[w.level].Cap
	rows := tx.db.Query(w.dirents, w.args...)
	for rows.Next() {
		name, born := node.Name{Dir: node.Ino(rows.Int(0)), Base: rows.Text(1)}, rows.Int(4)
		if !note(d.names, name, w.side, born <= limit) {
			continue
		}
		tx.mem.FillName(name, node.Dirent{Ino: node.Ino(rows.Int(2)), Kind: uint8(rows.Int(3)), Level: w.level, Born: born})
	}
	if err := rows.Err(); err != nil {
		return err
	}

	rows = tx.db.Query(w.inodes, w.args...)
	for rows.Next() {
		n, err := scanInode(rows, node.Ino(rows.Int(colIno)), w.level)
		if err != nil {
			rows.Close()
			return fmt.Errorf("load inode %d: %w", n.Ino, err)
		}
		if !note(d.inos, n.Ino, w.side, n.Born <= limit) {
			continue
		}
		tx.mem.FillNode(n.Ino, orNil(&n))
	}
	return rows.Err()
}

// fillAbsent caches that a tree does not show some of the keys that differ. It is for trees that inherit nothing: others
// may show it from a level that both have, and that was not looked at.
func (tx *Tx) fillAbsent(d differing, side shownBy) {
	for name, by := range d.names {
		if by&side == 0 {
			tx.mem.FillName(name, node.Dirent{Level: node.Fresh})
		}
	}
	for ino, by := range d.inos {
		if by&side == 0 {
			tx.mem.FillNode(ino, nil)
		}
	}
}

package check

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"vfsdb/node"
	"vfsdb/schema"
)

// This file checks trees as a whole: it reads one into memory, and counts the entries that show each inode.

// checkViews checks each head and each snapshot as a whole. Each is read in one transaction, by one scan of the rows of
// its levels. Trees that show the same rows, as a snapshot and a head without a change since, are read once.
func (c *checker) checkViews(ctx context.Context) error {
	clean := make(map[string]bool)
	for i := range c.trees {
		t := &c.trees[i]
		err := c.db.View(ctx, func(tx *schema.Tx) error {
			if there, err := t.stillThere(tx); !there || err != nil {
				return err
			}

			rows, err := t.rows(tx)
			if err != nil || clean[rows] {
				return err
			}

			// A tree with faults is read again for the next one with the same rows: each of them reports the faults as its own.
			before := len(c.report.Faults)
			v := view{c: c, t: t, tx: tx}
			if err := v.check(); err != nil {
				return err
			}
			clean[rows] = len(c.report.Faults) == before
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rows returns a key of the rows that a tree shows: two trees with the same key show the same.
func (t *subject) rows(tx *schema.Tx) (string, error) {
	var b strings.Builder
	for _, l := range t.levels {
		last, _, err := tx.Int(`SELECT max(
			ifnull((SELECT max(born) FROM inode  WHERE branch = ?1 AND born > 2 AND born <= ?2), 2),
			ifnull((SELECT max(born) FROM dirent WHERE branch = ?1 AND born > 2 AND born <= ?2), 2),
			ifnull((SELECT max(died) FROM inode  WHERE branch = ?1 AND died < 9223372036854775807 AND died <= ?2), 2),
			ifnull((SELECT max(died) FROM dirent WHERE branch = ?1 AND died < 9223372036854775807 AND died <= ?2), 2))`, l.Branch, l.Cap)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%d@%d ", l.Branch, last)
	}
	return b.String(), nil
}

// A view is one tree in memory, without its names: enough to count links and to follow directories up.
type view struct {
	c     *checker
	t     *subject
	tx    *schema.Tx
	nodes []viewNode // ascending by ino
	odd   []oddity
}

// A viewNode is an inode of the view.
type viewNode struct {
	ino    int64
	nlink  int64
	names  int64 // entries that show it
	parent int32 // of a directory: the index of the one that holds its name, or one of the next three
	kind   uint8
	state  uint8
}

const (
	noName    = -1 // no entry shows it
	noParent  = -2 // one does, in a directory that is missing
	someNames = -3 // a file: its names are only counted
)

// An oddity is an entry that may be a fault, depending on whether the root leads to it.
type oddity struct {
	name node.Name
	what string
}

func (v *view) check() error {
	if err := v.loadNodes(); err != nil {
		return err
	}
	if root := v.find(schema.RootIno); root < 0 {
		return v.c.fault(v.t.fault(".", "root is missing"))
	} else if v.nodes[root].kind != node.KindDir {
		return v.c.fault(v.t.fault(".", "root is a %s", node.KindName(int64(v.nodes[root].kind))))
	}
	for _, step := range []func() error{v.loadEntries, v.checkReach, v.checkOdd, v.checkLinks} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// find returns the index of an inode; -1 if the view does not have it.
func (v *view) find(ino int64) int32 {
	i := sort.Search(len(v.nodes), func(i int) bool { return v.nodes[i].ino >= ino })
	if i == len(v.nodes) || v.nodes[i].ino != ino {
		return -1
	}
	return int32(i)
}

// faultOf reports a fault of an inode, under each of its names.
func (v *view) faultOf(ino int64, format string, args ...any) error {
	paths, err := v.t.paths(v.tx, ino)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := v.c.fault(v.t.fault(path, format, args...)); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) faultOfName(name node.Name, what string) error {
	paths, err := v.t.pathsOfName(v.tx, name)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := v.c.fault(v.t.fault(path, "%s", what)); err != nil {
			return err
		}
	}
	return nil
}

// loadNodes reads the inodes, the nearest level winning.
func (v *view) loadNodes() error {
	return v.merge(`SELECT ino, mode, nlink FROM inode WHERE branch = ?1 AND died > ?2 AND born <= ?2 ORDER BY ino`,
		func(r *schema.Rows) key { return key{ino: r.Int(0)} },
		func(k key, r *schema.Rows) error {
			mode := r.Int(1)
			if mode == 0 {
				return nil
			}
			n := viewNode{ino: k.ino, nlink: r.Int(2), kind: uint8(mode >> 12), parent: noName}
			v.nodes = append(v.nodes, n)
			return nil
		})
}

// loadEntries reads the entries and counts them at the inodes that they show.
func (v *view) loadEntries() error {
	last, dir := int64(-1), int32(-1)
	return v.merge(`SELECT parent, name, ifnull(ino, 0), kind FROM dirent WHERE branch = ?1 AND died > ?2 AND born <= ?2 ORDER BY parent, name`,
		func(r *schema.Rows) key { return key{ino: r.Int(0), name: r.Text(1)} },
		func(k key, r *schema.Rows) error {
			ino, kind := r.Int(2), r.Int(3)
			if ino == 0 {
				return nil
			}

			// The entries of a directory come one after another.
			if k.ino != last {
				last, dir = k.ino, v.find(k.ino)
			}

			name := node.Name{Dir: node.Ino(k.ino), Base: k.name}
			if dir >= 0 && v.nodes[dir].kind != node.KindDir {
				if err := v.faultOfName(name, fmt.Sprintf("entry of a %s", node.KindName(int64(v.nodes[dir].kind)))); err != nil {
					return err
				}
			}

			// An entry that shows a wrong inode may be below an orphan, so it is an oddity for now.
			i := v.find(ino)
			if i < 0 {
				v.odd = append(v.odd, oddity{name, fmt.Sprintf("entry shows inode %d, which is missing", ino)})
				return nil
			}
			n := &v.nodes[i]
			n.names++
			if int64(n.kind) != kind {
				v.odd = append(v.odd, oddity{name, fmt.Sprintf("entry shows a %s, but inode %d is a %s", node.KindName(kind), ino, node.KindName(int64(n.kind)))})
			}
			return v.place(n, dir)
		})
}

// place notes where a name of a node is.
func (v *view) place(n *viewNode, dir int32) error {
	switch {
	case n.ino == schema.RootIno:
		return v.faultOf(n.ino, "root has a name")
	case n.kind != node.KindDir && dir < 0:
		n.parent = noParent
	case n.kind != node.KindDir && n.parent == noName:
		n.parent = someNames
	case n.kind != node.KindDir:
	case n.parent != noName:
		return v.faultOf(n.ino, "directory %d has more than one name", n.ino)
	case dir < 0:
		n.parent = noParent
	default:
		n.parent = dir
	}
	return nil
}

// key orders the rows of a level: inodes by number, entries by directory and name.
type key struct {
	ino  int64
	name string
}

func (k key) less(o key) bool { return k.ino < o.ino || k.ino == o.ino && k.name < o.name }

// merge runs a query on every level at once and calls use with the nearest row of each key.
func (v *view) merge(text string, keyOf func(*schema.Rows) key, use func(key, *schema.Rows) error) error {
	cursors := make([]*schema.Rows, len(v.t.levels))
	heads := make([]key, len(cursors))

	defer func() {
		for _, rows := range cursors {
			if rows != nil {
				rows.Close()
			}
		}
	}()

	// step moves a cursor to its next key. A cursor at the end of its rows becomes nil.
	step := func(i int) error {
		for rows := cursors[i]; rows.Next(); {
			if k := keyOf(rows); !k.less(heads[i]) && k != heads[i] {
				heads[i] = k
				return nil
			}
			// A second row of one key is a fault that was reported with the rows.
		}
		err := cursors[i].Err()
		cursors[i] = nil
		return err
	}

	for i, l := range v.t.levels {
		cursors[i] = v.tx.Query(text, l.Branch, l.Cap)
		heads[i] = key{ino: -1 << 63}
		if err := step(i); err != nil {
			return err
		}
	}

	for n := 0; ; n++ {
		if n%checkPage == 0 {
			if err := v.tx.Context().Err(); err != nil {
				return err
			}
		}

		// The lowest key is next, of the nearest level that has it.
		first := -1
		for i := range cursors {
			if cursors[i] != nil && (first < 0 || heads[i].less(heads[first])) {
				first = i
			}
		}
		if first < 0 {
			return nil
		}

		k := heads[first]
		if err := use(k, cursors[first]); err != nil {
			return err
		}

		// All levels go on from this key: it hides the same key in levels further away.
		for i := first; i < len(cursors); i++ {
			if cursors[i] != nil && heads[i] == k {
				if err := step(i); err != nil {
					return err
				}
			}
		}
	}
}

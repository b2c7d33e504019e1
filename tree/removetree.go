package tree

import (
	"syscall"

	"vfsdb/journal"
	"vfsdb/node"
)

// RemoveTree removes a name and, if it is that of a directory, everything below. Its time does not depend on the size of
// the tree: the top loses its name, and gc takes the rest. The tree is walked only where a file below has a second name.
// A file that has a name elsewhere is recorded too, under each name that it loses. The root is EPERM.
func (tx *Tx) RemoveTree(p Place) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	if p.Dir == 0 {
		return syscall.EPERM
	}
	n, err := tx.shown(p)
	if err != nil {
		return err
	}
	if !n.IsDir() {
		return tx.lose(journal.OpRemoveAll, p, n)
	}

	shared, err := tx.linksBelow(n.Ino)
	if err != nil {
		return err
	}
	if shared {
		if err := tx.removeBelow(p, n); err != nil {
			return err
		}
	}
	return tx.lose(journal.OpRemoveAll, p, n)
}

// removeBelow drops every name below the directory n, which stands at p, and records those of files that keep another.
func (tx *Tx) removeBelow(p Place, n *node.Node) error {
	path, err := tx.eventPath(p)
	if err != nil {
		return err
	}
	r := treeRemover{tx: tx, removed: new(node.InoSet)}
	if err := r.remove(n.Ino, path); err != nil {
		return err
	}

	for _, lost := range r.lost {
		n, err := tx.Node(lost.ino)
		if err != nil {
			return err
		}
		if n == nil || n.Nlink == 0 {
			continue // it has no name elsewhere: it went with the directory
		}
		c := change{Change: journal.Change{Op: journal.OpRemove}}
		if err := tx.was(&c, n); err != nil {
			return err
		}
		c.entry(Place{Dir: lost.dir}, n)
		if err := tx.recordAt(lost.path, c); err != nil {
			return err
		}
	}
	return nil
}

// A treeRemover drops names, one at a time.
type treeRemover struct {
	tx      *Tx
	removed *node.InoSet // directories
	lost    []lostName   // of files that had several
}

// A lostName is a name that a file had in a directory.
type lostName struct {
	ino, dir node.Ino
	path     string
}

// remove drops every name below a directory, which has a path.
func (r *treeRemover) remove(dir node.Ino, path string) error {
	if !r.removed.Add(dir) {
		return node.ErrBelowItself(dir)
	}
	for e, err := range r.tx.Entries(dir, "") {
		if err == nil {
			err = r.tx.db.Context().Err()
		}
		if err == nil && e.Kind == node.KindDir {
			err = r.remove(e.Ino, node.JoinPath(path, e.Name))
		}
		if err != nil {
			return err
		}

		n, err := r.tx.NodeOf(dir, e)
		if err != nil {
			return err
		}
		if n.Nlink > 1 {
			r.lost = append(r.lost, lostName{n.Ino, dir, node.JoinPath(path, e.Name)})
		}
		if err := r.tx.dropName(Place{Dir: dir, Base: e.Name}, n); err != nil {
			return err
		}
	}
	return nil
}

// manyNamed finds the inodes of a level that have several names. Left to itself SQLite would rather look at all inodes
// of the branch.
const manyNamed = `SELECT ino FROM inode INDEXED BY inode_links WHERE branch = ?1 AND nlink > 1 AND died > ?2 AND born <= ?2`

// linksBelow reports whether a file with a second name lies below a directory. Few files have one, so it looks at these
// and not at the tree.
func (tx *Tx) linksBelow(top node.Ino) (bool, error) {
	if err := tx.Flush(); err != nil {
		return false, err
	}
	below := map[node.Ino]bool{top: true, tx.tree.root: false} // directories whose place is known
	for _, l := range tx.tree.levels {
		rows := tx.db.Query(manyNamed, l.Branch, l.Cap)
		for rows.Next() {
			is, err := tx.isBelow(node.Ino(rows.Int(0)), below)
			if is || err != nil {
				rows.Close()
				return is, err
			}
		}
		if err := rows.Err(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// isBelow reports whether one of the names of a file stands in a directory that is below. It adds the directories that
// it passes to the map.
func (tx *Tx) isBelow(ino node.Ino, below map[node.Ino]bool) (bool, error) {
	names, err := tx.namesOf(ino)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		is, known := below[name.Dir]
		passed := []node.Ino{name.Dir}
		if !known {
			for above, err := range tx.climb(name.Dir) {
				if err != nil {
					return false, err
				}
				if is, known = below[above.Dir]; known {
					break
				}
				passed = append(passed, above.Dir)
			}
		}

		for _, dir := range passed {
			below[dir] = is
		}
		if is {
			return true, nil
		}
	}
	return false, nil
}

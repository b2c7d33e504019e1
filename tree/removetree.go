package tree

import (
	"syscall"

	"vfsdb/journal"
	"vfsdb/node"
)

// RemoveTree removes a name and, if it is that of a directory, everything below. Its time does not depend on the size of
// the tree: the top loses its name, and gc takes the rest. The tree is walked only where a file below has a second name.
// The root is EPERM.
func (tx *Tx) RemoveTree(p Place) error {
	if err := tx.Writable(); err != nil {
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
		var removed InoSet
		if err := tx.removeBelow(n.Ino, &removed); err != nil {
			return err
		}
	}
	return tx.lose(journal.OpRemoveAll, p, n)
}

// removeBelow drops every name below a directory, one at a time.
func (tx *Tx) removeBelow(dir node.Ino, removed *InoSet) error {
	if !removed.Add(dir) {
		return ErrBelowItself(dir)
	}
	for e, err := range tx.Entries(dir, "") {
		if err == nil {
			err = tx.db.Context().Err()
		}
		if err == nil && e.Kind == node.KindDir {
			err = tx.removeBelow(e.Ino, removed)
		}
		if err != nil {
			return err
		}

		n, err := tx.NodeOf(dir, e)
		if err != nil {
			return err
		}
		if err := tx.dropName(Place{Dir: dir, Base: e.Name}, n); err != nil {
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
	below := map[node.Ino]bool{top: true, tx.fsys.root: false} // directories whose place is known
	for _, l := range tx.fsys.levels {
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

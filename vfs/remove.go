package vfs

import (
	"context"
	"syscall"
)

// Remove removes a file, a symlink or an empty directory. A directory with entries is ENOTEMPTY, the root EPERM.
func (tx *Tx) Remove(name string, opts ...Option) error {
	return pathErr("remove", name, tx.remove(name, opts))
}

func (tx *Tx) remove(name string, opts []Option) error {
	o, err := gather(opts, optIfSum)
	if err != nil {
		return err
	}
	p, n, err := tx.removable(name)
	if err != nil {
		return o.gone(err)
	}
	if err := tx.holds(o, p.ino); err != nil {
		return err
	}
	if n.isDir() {
		if err := tx.checkEmpty(n.ino); err != nil {
			return err
		}
	}
	return tx.lose("remove", p, n)
}

// lose takes the name at p away from n, and records it.
func (tx *Tx) lose(op Op, p place, n *inode) error {
	c, err := tx.loss(op, n)
	if err != nil {
		return err
	}
	if err := tx.unlink(p, n); err != nil {
		return err
	}
	return tx.recordAt(p, c)
}

// removable walks to something that may lose its name.
func (tx *Tx) removable(name string) (place, *inode, error) {
	if err := tx.writable(); err != nil {
		return place{}, nil, err
	}
	p, n, err := tx.find(name, false)
	switch {
	case err != nil:
	case p.ino == tx.fsys.root:
		err = syscall.EPERM
	case p.up:
		err = syscall.ENOTEMPTY
	}
	return p, n, err
}

func (tx *Tx) checkEmpty(dir Ino) error {
	page, err := tx.page(dir, "", 1)
	if err == nil && len(page) > 0 {
		err = syscall.ENOTEMPTY
	}
	return err
}

// unlink takes the name at p away from n.
func (tx *Tx) unlink(p place, n *inode) error {
	parent, err := tx.parent(p)
	if err != nil {
		return err
	}
	if err := tx.dropDirent(p.dir, p.base); err != nil {
		return err
	}
	tx.modified(parent)
	return tx.unref(n)
}

// unref counts one name less. An inode without names becomes an orphan: gc reaps it once no open file holds it, and
// below a directory what it holds.
func (tx *Tx) unref(n *inode) error {
	n.nlink--
	tx.change(n)
	if n.nlink > 0 {
		return nil
	}
	return tx.addOrphan(n.ino)
}

// RemoveAll removes what the path leads to, and if that is a directory everything below. Nothing there is fine; the
// root is EPERM. Its time does not depend on the size of the tree: the top loses its name, and gc takes the rest. Only
// where a file below has a second name is the tree walked.
func (tx *Tx) RemoveAll(name string, opts ...Option) error {
	return pathErr("removeall", name, tx.removeAll(name, opts))
}

func (tx *Tx) removeAll(name string, opts []Option) error {
	o, err := gather(opts, optIfSum)
	if err != nil {
		return err
	}
	p, n, err := tx.removable(name)
	switch {
	case err == syscall.ENOENT && name != "":
		return tx.holds(o, 0)
	case err != nil:
		return err
	}
	if err := tx.holds(o, p.ino); err != nil {
		return err
	}
	if !n.isDir() {
		return tx.lose("removeall", p, n)
	}
	shared, err := tx.linksBelow(n.ino)
	if err != nil {
		return err
	}
	if shared {
		var below entered
		if err := tx.removeTree(n.ino, &below); err != nil {
			return err
		}
	}
	return tx.lose("removeall", p, n)
}

// removeTree unlinks everything below a directory, one name at a time.
func (tx *Tx) removeTree(dir Ino, below *entered) error {
	if !below.add(dir) {
		return errBelowItself(dir)
	}
	for after := ""; ; {
		page, err := tx.page(dir, after, pageSize)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].name
		for _, e := range page {
			if err := tx.db.Context().Err(); err != nil {
				return err
			}
			if e.kind == kindDir {
				if err := tx.removeTree(e.ino, below); err != nil {
					return err
				}
			}
			n, err := tx.inode(e.ino)
			if err != nil {
				return err
			}
			if n == nil {
				return corrupt("entry %q of directory %d shows inode %d, which is missing", e.name, dir, e.ino)
			}
			if err := tx.unlink(place{dir: dir, base: e.name}, n); err != nil {
				return err
			}
		}
	}
}

// pageSize is how many entries of a directory are read at a time.
const pageSize = 512

// manyNamed finds the inodes of a level that have several names. Left to itself SQLite would rather look at all inodes
// of the branch.
const manyNamed = `SELECT ino FROM inode INDEXED BY inode_links WHERE branch = ?1 AND nlink > 1 AND died > ?2 AND born <= ?2`

// linksBelow reports whether a file with a second name lies below a directory. Few files have one, so they are
// looked at and not the tree.
func (tx *Tx) linksBelow(top Ino) (bool, error) {
	if err := tx.flush(); err != nil {
		return false, err
	}
	below := map[Ino]bool{top: true, tx.fsys.root: false} // directories whose place is known
	for _, l := range tx.fsys.levels {
		rows := tx.db.Query(manyNamed, l.branch, l.cap)
		for rows.Next() {
			is, err := tx.isBelow(Ino(rows.Int(0)), below)
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

// isBelow reports whether one of the names of a file stands in a directory that is below. What is found out of
// directories on the way is added.
func (tx *Tx) isBelow(ino Ino, below map[Ino]bool) (bool, error) {
	names, err := tx.namesOf(ino)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		var seen []Ino
		var up climb
		dir, is, known := name.Dir, false, false
		for dir != 0 {
			if is, known = below[dir]; known {
				break
			}
			seen = append(seen, dir)
			if err := up.to(dir); err != nil {
				return false, err
			}
			if dir, err = tx.parentOf(dir); err != nil {
				return false, err
			}
		}
		for _, dir := range seen {
			below[dir] = is
		}
		if is {
			return true, nil
		}
	}
	return false, nil
}

// Remove removes a file, a symlink or an empty directory, see [Tx.Remove].
func (fsys *FS) Remove(ctx context.Context, name string, opts ...Option) error {
	return fsys.update(ctx, "remove", name, func(tx *Tx) error { return tx.Remove(name, opts...) })
}

// RemoveAll removes a tree, see [Tx.RemoveAll].
func (fsys *FS) RemoveAll(ctx context.Context, name string, opts ...Option) error {
	return pathErr("removeall", name, fsys.Update(ctx, func(tx *Tx) error { return tx.RemoveAll(name, opts...) }))
}

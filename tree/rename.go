package tree

import (
	"cmp"
	"syscall"

	"vfsdb/journal"
	"vfsdb/node"
)

// Rename moves an inode from one name to another. It replaces an inode of the same sort that has the new name: a
// directory only a directory, which must be empty (ENOTEMPTY). Two names of one inode stay as they are. A directory
// below itself is EINVAL, the root EBUSY.
func (tx *Tx) Rename(from, to Place) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	n, over, err := tx.CheckRename(from, to)
	if err != nil || over == n.Ino {
		return err
	}
	displaced, err := tx.displace(to, n)
	if err != nil {
		return err
	}

	// If the name shows another inode, the event has the content that the name had, and the one that it has now.
	c := change{Change: journal.Change{Op: journal.OpRename}}
	if displaced != nil {
		if c, err = tx.loss(journal.OpRename, displaced); err != nil {
			return err
		}
		if c.After, err = tx.SumOf(n); err != nil {
			return err
		}
		c.Displaced = displaced.Ino
	}
	c.entry(to, n)
	c.ArgDir = from.Dir
	if c.Arg, err = tx.eventPath(from); err != nil {
		return err
	}
	path, err := tx.eventPath(to)
	if err != nil {
		return err
	}

	if err := tx.move(from, to, n, displaced); err != nil {
		return err
	}
	return tx.recordAt(path, c)
}

// CheckRename refuses a rename that no options allow. It returns the inode to be moved, and the number of the one that
// has the new name, 0 if none has it.
func (tx *Tx) CheckRename(from, to Place) (n *node.Node, over node.Ino, err error) {
	if from.Dir == 0 || to.Dir == 0 {
		return nil, 0, syscall.EBUSY
	}
	if err := to.check(); err != nil {
		return nil, 0, err
	}
	if n, err = tx.shown(from); err != nil {
		return nil, 0, err
	}
	d, err := tx.Lookup(to.Dir, to.Base)
	if err != nil {
		return nil, 0, err
	}

	// The new name must not be below the moved directory, nor the old name below the replaced one.
	if n.IsDir() {
		if into, err := tx.below(to, n.Ino); into || err != nil {
			return nil, 0, cmp.Or(err, error(syscall.EINVAL))
		}
	}
	if d.Ino != 0 && d.Kind == node.KindDir {
		if outOf, err := tx.below(from, d.Ino); outOf || err != nil {
			return nil, 0, cmp.Or(err, error(syscall.ENOTEMPTY))
		}
	}
	return n, d.Ino, nil
}

// displace checks that n may take the name of the inode at p, and returns that inode; nil if there is none.
func (tx *Tx) displace(p Place, n *node.Node) (*node.Node, error) {
	old, err := tx.shown(p)
	switch {
	case err == syscall.ENOENT:
		return nil, nil
	case err != nil:
		return nil, err
	case n.IsDir() && !old.IsDir():
		return nil, syscall.ENOTDIR
	case !n.IsDir() && old.IsDir():
		return nil, syscall.EISDIR
	case old.IsDir():
		return old, tx.checkEmpty(old.Ino)
	}
	return old, nil
}

// move puts the new name, then drops the old, then counts the displaced link: in this order no moment within the
// transaction shows n under no name.
func (tx *Tx) move(from, to Place, n, displaced *node.Node) error {
	source, err := tx.parent(from)
	if err != nil {
		return err
	}
	target, err := tx.parent(to)
	if err != nil {
		return err
	}
	if err := tx.putDirent(to.Dir, to.Base, n.Ino, n.Kind()); err != nil {
		return err
	}
	if err := tx.DropDirent(from.Dir, from.Base); err != nil {
		return err
	}
	if n.IsDir() {
		tx.mem.Own.Moves++
	}

	tx.modified(source)
	tx.modified(target)
	tx.change(n)
	if displaced == nil {
		return nil
	}
	return tx.Unref(displaced)
}

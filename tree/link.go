package tree

import (
	"syscall"

	"vfsdb/journal"
	"vfsdb/node"
)

// Link gives an inode one more name. A name that exists is EEXIST, a directory EPERM, an inode that has lost its last
// name, or lies below a directory that has, ENOENT.
func (tx *Tx) Link(from, to Place) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	if err := tx.vacant(to); err != nil {
		return err
	}
	n, err := tx.shown(from)
	switch {
	case err != nil:
		return err
	case n.IsDir():
		return syscall.EPERM
	case n.Nlink == 0:
		return syscall.ENOENT
	}
	arg, err := tx.eventPath(from)
	if err == nil && arg == "" {
		err = syscall.ENOENT
	}
	if err != nil {
		return err
	}

	path, err := tx.eventPath(to)
	if err != nil {
		return err
	}

	if err := tx.addName(to, n); err != nil {
		return err
	}
	c := change{Change: journal.Change{Op: journal.OpLink, Arg: arg}}
	c.entry(to, n)
	return tx.recordAt(path, c)
}

// Relink gives an inode that has lost its last name one again, as a file that was made without one gets its first. Some
// handle must have kept it. One that has a name is EEXIST, a directory EPERM.
func (tx *Tx) Relink(ino node.Ino, to Place) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	if err := tx.vacant(to); err != nil {
		return err
	}
	n, err := tx.shown(Place{Ino: ino})
	switch {
	case err != nil:
		return err
	case n.IsDir():
		return syscall.EPERM
	case n.Nlink > 0:
		return syscall.EEXIST
	}
	path, err := tx.eventPath(to)
	if err != nil {
		return err
	}
	sum, err := tx.SumOf(n)
	if err != nil {
		return err
	}

	if err := tx.addName(to, n); err != nil {
		return err
	}
	c := change{Change: journal.Change{Op: createOp(n.Kind()), Arg: n.Target, Grew: n.Content.Size}}
	c.entry(to, n)
	if n.Kind() == node.KindFile {
		c.is(n, sum)
	}
	return tx.recordAt(path, c)
}

// addName puts an entry for an inode, and counts the link.
func (tx *Tx) addName(p Place, n *node.Node) error {
	parent, err := tx.parent(p)
	if err != nil {
		return err
	}
	if err := tx.putDirent(p.Dir, p.Base, n.Ino, n.Kind()); err != nil {
		return err
	}
	n.Nlink++
	tx.change(n)
	tx.modified(parent)
	return nil
}

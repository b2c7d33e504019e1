package tree

import (
	"syscall"

	"vfsdb/journal"
	"vfsdb/node"
)

// Unlink removes a name of a file, or of an empty directory. One with entries is ENOTEMPTY, the root EPERM.
func (tx *Tx) Unlink(p Place) error {
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
	if n.IsDir() {
		if err := tx.checkEmpty(n.Ino); err != nil {
			return err
		}
	}
	return tx.lose(journal.OpRemove, p, n)
}

// lose takes the name at p away from n, and records it.
func (tx *Tx) lose(op journal.Op, p Place, n *node.Node) error {
	path, err := tx.eventPath(p)
	if err != nil {
		return err
	}
	c, err := tx.loss(op, n)
	if err != nil {
		return err
	}
	if err := tx.dropName(p, n); err != nil {
		return err
	}
	c.entry(p, n)
	return tx.recordAt(path, c)
}

// dropName drops the entry at p, which shows n, and counts the link.
func (tx *Tx) dropName(p Place, n *node.Node) error {
	parent, err := tx.parent(p)
	if err != nil {
		return err
	}
	if err := tx.DropDirent(p.Dir, p.Base); err != nil {
		return err
	}
	tx.modified(parent)
	return tx.Unref(n)
}

// Unref counts one name less. An inode without names becomes an orphan: gc reaps it once no open file holds it, and
// with a directory everything below.
func (tx *Tx) Unref(n *node.Node) error {
	n.Nlink--
	tx.change(n)
	if n.Nlink > 0 {
		return nil
	}
	return tx.addOrphan(n.Ino)
}

package tree

import (
	"syscall"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
)

// NewNode returns an inode of a type and permissions that was modified now, for Create.
func (tx *Tx) NewNode(mode uint32) *node.Node { return &node.Node{Mode: mode, Mtime: tx.now} }

// Create makes a new inode and gives it a name. sum is that of its content, if it is a regular file. A name that exists
// is EEXIST.
func (tx *Tx) Create(p Place, n *node.Node, sum chunk.Sum) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	if err := node.CheckTarget(n); err != nil {
		return err
	}
	if n.Xattrs != "" {
		if err := n.CheckXattrs(); err != nil {
			return err
		}
	}
	if err := tx.vacant(p); err != nil {
		return err
	}
	path, err := tx.eventPath(p)
	if err != nil {
		return err
	}

	if err := tx.addNamed(p, n); err != nil {
		return err
	}
	c := change{Change: journal.Change{Op: createOp(n.Kind()), Arg: n.Target, Grew: n.Content.Size}}
	c.entry(p, n)
	if n.Kind() == node.KindFile {
		c.is(n, sum)
	}
	return tx.recordAt(path, c)
}

// Replace is Create for a regular file that may take the name from another inode. One event records both. The name of a
// directory is EISDIR.
func (tx *Tx) Replace(p Place, n *node.Node, sum chunk.Sum) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	old, err := tx.shown(p)
	switch {
	case err == syscall.ENOENT:
		return tx.Create(p, n, sum)
	case err != nil:
		return err
	case old.IsDir():
		return syscall.EISDIR
	}
	if err := p.check(); err != nil {
		return err
	}
	path, err := tx.eventPath(p)
	if err != nil {
		return err
	}
	c, err := tx.loss("write", old)
	if err != nil {
		return err
	}

	if err := tx.dropName(p, old); err != nil {
		return err
	}
	if err := tx.addNamed(p, n); err != nil {
		return err
	}
	c.Grew += n.Content.Size
	c.entry(p, n)
	c.Displaced = old.Ino
	c.is(n, sum)
	return tx.recordAt(path, c)
}

// addNamed adds an inode with its first name.
func (tx *Tx) addNamed(p Place, n *node.Node) error {
	parent, err := tx.parent(p)
	if err != nil {
		return err
	}
	n.Nlink = 1
	if err := tx.addInode(n); err != nil {
		return err
	}
	if err := tx.putDirent(p.Dir, p.Base, n.Ino, n.Kind()); err != nil {
		return err
	}
	tx.modified(parent)
	return nil
}

// modified marks that the content of a file, or the entries of a directory, changed now.
func (tx *Tx) modified(n *node.Node) {
	n.Mtime = tx.now
	tx.change(n)
}

// createOp returns the op of an event that records a new inode of a type.
func createOp(kind uint8) journal.Op {
	switch kind {
	case node.KindFile:
		return journal.OpCreate
	case node.KindDir:
		return journal.OpMkdir
	case node.KindLink:
		return journal.OpSymlink
	}
	return journal.OpMknod
}

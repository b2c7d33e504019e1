package vfs

import (
	"syscall"

	"vfsdb/chunk"
	"vfsdb/journal"
)

// newNode returns an inode of a type and permissions that was modified now, for create.
func (tx *Tx) newNode(mode uint32) *inode { return &inode{mode: mode, mtime: tx.now} }

// create makes a new inode and gives it a name. sum is that of its content, if it is a regular file. A name that exists
// is EEXIST.
func (tx *Tx) create(p Place, n *inode, sum chunk.Sum) error {
	if err := checkTarget(n); err != nil {
		return err
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
	c := change{Change: journal.Change{Op: createOp(n.kind()), Arg: n.target, Grew: n.content.Size}}
	if n.kind() == kindFile {
		c.is(n, sum)
	}
	return tx.recordAt(path, c)
}

// replace is create for a regular file that may take the name from another inode. One event records both. The name of a
// directory is EISDIR.
func (tx *Tx) replace(p Place, n *inode, sum chunk.Sum) error {
	old, err := tx.shown(p)
	switch {
	case err == syscall.ENOENT:
		return tx.create(p, n, sum)
	case err != nil:
		return err
	case old.isDir():
		return syscall.EISDIR
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
	c.Grew += n.content.Size
	c.is(n, sum)
	return tx.recordAt(path, c)
}

// addNamed adds an inode with its first name.
func (tx *Tx) addNamed(p Place, n *inode) error {
	parent, err := tx.parent(p)
	if err != nil {
		return err
	}
	n.nlink = 1
	if err := tx.addInode(n); err != nil {
		return err
	}
	if err := tx.putDirent(p.Dir, p.Base, n.ino, n.kind()); err != nil {
		return err
	}
	tx.modified(parent)
	return nil
}

// modified marks that the content of a file, or the entries of a directory, changed now.
func (tx *Tx) modified(n *inode) {
	n.mtime = tx.now
	tx.change(n)
}

// createOp returns the op of an event that records a new inode of a type.
func createOp(kind uint8) journal.Op {
	switch kind {
	case kindFile:
		return journal.OpCreate
	case kindDir:
		return journal.OpMkdir
	case kindLink:
		return journal.OpSymlink
	}
	return journal.OpMknod
}

// checkTarget refuses a symlink that points at what no path can be.
func checkTarget(n *inode) error {
	if n.kind() != kindLink {
		return nil
	}
	switch {
	case n.target == "":
		return syscall.ENOENT
	case len(n.target) > maxPath:
		return syscall.ENAMETOOLONG
	}
	for i := range len(n.target) {
		if n.target[i] == 0 {
			return syscall.EINVAL
		}
	}
	return nil
}

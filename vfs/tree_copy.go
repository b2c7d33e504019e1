package vfs

import (
	"cmp"
	"syscall"

	"vfsdb/journal"
)

// copyTree makes a copy of a file or of a directory with all that is below it. Content is shared. A file that has the new
// name is replaced; see [Tx.Copy] for what is refused.
func (tx *Tx) copyTree(from, to Place) error {
	n, over, err := tx.checkCopy(from, to)
	if err != nil || over == n.ino {
		return err
	}
	old, err := tx.displace(to, n)
	switch {
	case err != nil:
		return err
	case old != nil && n.isDir():
		return syscall.EEXIST
	}

	source, err := tx.eventPath(from)
	if err != nil {
		return err
	}
	path, err := tx.eventPath(to)
	if err != nil {
		return err
	}
	c := copier{tx: tx, made: make(map[Ino]*inode), copied: new(inoSet)}
	if n.isDir() {
		if err := c.avoid(to); err != nil {
			return err
		}
	}

	if old != nil {
		if c.lost, err = tx.loss(journal.OpCopy, old); err != nil {
			return err
		}
		if err := tx.dropName(to, old); err != nil {
			return err
		}
	}
	return c.copy(n, to, source, path)
}

// checkCopy refuses to copy a directory into itself, or onto itself, with EINVAL. It returns the inode to be copied, and
// the number of the one that has the new name, 0 if none has it.
func (tx *Tx) checkCopy(from, to Place) (n *inode, over Ino, err error) {
	if n, err = tx.shown(from); err != nil {
		return nil, 0, err
	}
	if over, err = tx.inoAt(to); err != nil || !n.isDir() {
		return n, over, err
	}
	into, err := tx.below(to, n.ino)
	if err != nil || into || over == n.ino {
		return nil, 0, cmp.Or(err, error(syscall.EINVAL))
	}
	return n, over, nil
}

// A copier makes a copy of a tree.
type copier struct {
	tx     *Tx
	made   map[Ino]*inode // the copy of a file with several names
	copied *inoSet        // directories that are not to be copied, or not again
	lost   change         // of the file that the copy replaces
}

// avoid makes the directories above the copy ones that cannot be copied: the copy would be part of what is copied.
func (c copier) avoid(to Place) error {
	if to.Chain != nil {
		for _, dir := range to.Chain {
			c.copied.add(dir)
		}
		return nil
	}
	c.copied.add(to.Dir)
	for name, err := range c.tx.climb(to.Dir) {
		if err != nil {
			return err
		}
		c.copied.add(name.Dir)
	}
	return nil
}

// copy copies n, whose event path is source, to a place, whose event path is path.
func (c copier) copy(n *inode, to Place, source, path string) error {
	if made := c.made[n.ino]; made != nil {
		if err := c.tx.addName(to, made); err != nil {
			return err
		}
		return c.record(n, source, path, 0)
	}

	made := &inode{
		mode: n.mode, uid: n.uid, gid: n.gid, rdev: n.rdev, mtime: n.mtime, content: n.content, target: n.target,
	}
	if err := c.tx.addNamed(to, made); err != nil {
		return err
	}
	if err := c.record(n, source, path, n.content.Size); err != nil {
		return err
	}
	if n.nlink > 1 {
		c.made[n.ino] = made
	}
	if !n.isDir() {
		return nil
	}

	if !c.copied.add(n.ino) {
		return errBelowItself(n.ino)
	}
	for e, err := range c.tx.entries(n.ino, "") {
		if err != nil {
			return err
		}
		below, err := c.tx.nodeOf(n.ino, e)
		if err != nil {
			return err
		}
		if err := c.copy(below, Place{Dir: made.ino, Base: e.name}, source+"/"+e.name, path+"/"+e.name); err != nil {
			return err
		}
	}
	made.mtime = n.mtime // the entries changed it
	c.tx.change(made)
	return nil
}

func (c copier) record(n *inode, source, path string, size int64) error {
	after, err := c.tx.sumOf(n)
	if err != nil {
		return err
	}
	return c.tx.recordAt(path, change{Change: journal.Change{
		Op: journal.OpCopy, Arg: source, Before: c.lost.Before, Origin: c.lost.Origin, After: after, Grew: c.lost.Grew + size,
	}})
}

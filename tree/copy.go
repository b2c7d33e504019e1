package tree

import (
	"cmp"
	"syscall"

	"vfsdb/journal"
	"vfsdb/node"
)

// CopyTree makes a copy of a file or of a directory with all that is below it. Content is shared. A file that has the new
// name is replaced; see [Tx.Copy] for what is refused.
func (tx *Tx) CopyTree(from, to Place) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	n, over, err := tx.CheckCopy(from, to)
	if err != nil || over == n.Ino {
		return err
	}
	old, err := tx.displace(to, n)
	switch {
	case err != nil:
		return err
	case old != nil && n.IsDir():
		return syscall.EEXIST
	}
	if err := to.check(); err != nil {
		return err
	}

	source, err := tx.eventPath(from)
	if err != nil {
		return err
	}
	path, err := tx.eventPath(to)
	if err != nil {
		return err
	}
	c := copier{tx: tx, made: make(map[node.Ino]*node.Node), copied: new(node.InoSet)}
	if n.IsDir() {
		if err := c.avoid(to); err != nil {
			return err
		}
	}

	if old != nil {
		if c.lost, err = tx.loss(journal.OpCopy, old); err != nil {
			return err
		}
		c.lost.Ino = old.Ino
		if err := tx.dropName(to, old); err != nil {
			return err
		}
	}
	return c.copy(n, to, source, path)
}

// CheckCopy refuses to copy a directory into itself, or onto itself, with EINVAL. It returns the inode to be copied, and
// the number of the one that has the new name, 0 if none has it.
func (tx *Tx) CheckCopy(from, to Place) (n *node.Node, over node.Ino, err error) {
	if n, err = tx.shown(from); err != nil {
		return nil, 0, err
	}
	if over, err = tx.inoAt(to); err != nil || !n.IsDir() {
		return n, over, err
	}
	into, err := tx.below(to, n.Ino)
	if err != nil || into || over == n.Ino {
		return nil, 0, cmp.Or(err, error(syscall.EINVAL))
	}
	return n, over, nil
}

// A copier makes a copy of a tree.
type copier struct {
	tx     *Tx
	made   map[node.Ino]*node.Node // the copy of a file with several names
	copied *node.InoSet            // directories that are not to be copied, or not again
	lost   change                  // of the file that the copy replaces
}

// avoid marks the directories above the copy as copied: to copy one of them would copy the copy too.
func (c copier) avoid(to Place) error {
	if to.Chain != nil {
		for _, dir := range to.Chain {
			c.copied.Add(dir)
		}
		return nil
	}
	c.copied.Add(to.Dir)
	for name, err := range c.tx.climb(to.Dir) {
		if err != nil {
			return err
		}
		c.copied.Add(name.Dir)
	}
	return nil
}

// copy copies n, whose event path is source, to a place, whose event path is path.
func (c copier) copy(n *node.Node, to Place, source, path string) error {
	if made := c.made[n.Ino]; made != nil {
		if err := c.tx.addName(to, made); err != nil {
			return err
		}
		return c.record(made, to, source, path, 0)
	}

	made := n.Copy()
	if err := c.tx.addNamed(to, made); err != nil {
		return err
	}
	if err := c.record(made, to, source, path, n.Content.Size); err != nil {
		return err
	}
	if n.Nlink > 1 {
		c.made[n.Ino] = made
	}
	if !n.IsDir() {
		return nil
	}

	if !c.copied.Add(n.Ino) {
		return node.ErrBelowItself(n.Ino)
	}
	for e, err := range c.tx.Entries(n.Ino, "") {
		if err != nil {
			return err
		}
		below, err := c.tx.NodeOf(n.Ino, e)
		if err != nil {
			return err
		}
		if err := c.copy(below, Place{Dir: made.Ino, Base: e.Name}, source+"/"+e.Name, path+"/"+e.Name); err != nil {
			return err
		}
	}
	made.Mtime = n.Mtime // the entries changed it
	c.tx.change(made)
	return nil
}

// record records that the name at a place shows made, by which the tree grew.
func (c copier) record(made *node.Node, to Place, source, path string, size int64) error {
	after, err := c.tx.SumOf(made)
	if err != nil {
		return err
	}
	copied := change{Change: journal.Change{
		Op: journal.OpCopy, Arg: source, Before: c.lost.Before, Origin: c.lost.Origin, After: after, Grew: c.lost.Grew + size,
		Displaced: c.lost.Ino,
	}}
	copied.entry(to, made)
	return c.tx.recordAt(path, copied)
}

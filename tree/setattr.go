package tree

import (
	"vfsdb/journal"
	"vfsdb/node"
)

// SetAttr changes attributes of an inode with a function, and records that as an op.
func (tx *Tx) SetAttr(p Place, op journal.Op, set func(*node.Node)) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	n, err := tx.shown(p)
	if err != nil {
		return err
	}
	path, err := tx.eventPath(p)
	if err != nil {
		return err
	}

	set(n)
	tx.change(n)
	return tx.recordAt(path, change{Change: journal.Change{Op: op, Ino: n.Ino}})
}

package tree

import (
	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
)

// SetContent gives a regular file another content, which has the sum after. set, if it is not nil, changes attributes in
// the same step. The caller must have folded in the uncommitted writes of open files.
func (tx *Tx) SetContent(p Place, op journal.Op, content chunk.Content, after chunk.Sum, set func(*node.Node)) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	n, err := tx.shown(p)
	if err != nil {
		return err
	}
	if err := n.CheckRegular(); err != nil {
		return err
	}
	path, err := tx.eventPath(p)
	if err != nil {
		return err
	}
	c := change{Change: journal.Change{Op: op, Grew: content.Size - n.Content.Size}}
	if err := tx.was(&c, n); err != nil {
		return err
	}

	tx.keepFound(n)
	n.Content = content
	c.is(n, after)
	tx.modified(n)
	if set != nil {
		set(n)
	}
	return tx.recordAt(path, c)
}

// Rewrite is setContent for a content whose sum is still to be found.
func (tx *Tx) Rewrite(p Place, op journal.Op, content chunk.Content) error {
	after, err := chunk.SumOfContent(tx.db, content)
	if err != nil {
		return err
	}
	return tx.SetContent(p, op, content, after, nil)
}

package tree

import (
	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/memory"
	"vfsdb/node"
)

// A change is what a verb did to a path.
type change struct {
	journal.Change
	gave    bool // the verb gave the inode its content, whose sum is After
	content chunk.Content
}

// record notes what a verb has done. It stands or falls with the verb.
func (tx *Tx) record(c change) error {
	seq, err := tx.log.Append(tx.epoch(), c.Change)
	if err == nil && c.gave {
		tx.mem.Own.Sources[c.Ino] = memory.Source{Content: c.content, Sum: c.After, Seq: seq}
	}
	return err
}

// Record notes a change of the branch that is not a verb's, for rooms that name snapshots and branches. path is from
// the root of the branch, "." for the branch itself. It is written with the transaction; it wakes watchers, and stands
// in the log. An op that is not 1 to 32 lower case letters and hyphens is EINVAL, and so is a path that is not clean.
func (tx *Tx) Record(op, path, arg string) error {
	return tx.RecordChange(journal.Change{Op: journal.Op(op), Path: path, Arg: arg})
}

// RecordChange is Record for a change of inodes, entries or contents.
func (tx *Tx) RecordChange(c journal.Change) error {
	if err := tx.Writable(); err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	return tx.record(change{Change: c})
}

// SumOf returns the sum of a regular file's content, and none for anything else.
func (tx *Tx) SumOf(n *node.Node) (chunk.Sum, error) {
	if n == nil || n.Kind() != node.KindFile {
		return chunk.Sum{}, nil
	}
	return chunk.SumOfContent(tx.db, n.Content)
}

// was notes the content that n has before the change.
func (tx *Tx) was(c *change, n *node.Node) (err error) {
	if s, ok := tx.mem.Own.Sources[n.Ino]; ok && s.Content == n.Content {
		c.Before, c.Origin = s.Sum, s.Seq
		return nil
	}
	c.Before, err = tx.SumOf(n)
	return err
}

// is notes the content that n has after it.
func (c *change) is(n *node.Node, sum chunk.Sum) {
	c.Ino, c.After, c.gave, c.content = n.Ino, sum, true, n.Content
}

// entry notes that the name at p, which is the last of the path, came to n or went from it.
func (c *change) entry(p Place, n *node.Node) { c.Dir, c.Ino = p.Dir, n.Ino }

// loss is the change that a name is taken away from n: its content goes with the last one.
func (tx *Tx) loss(op journal.Op, n *node.Node) (c change, err error) {
	c.Op = op
	if err = tx.was(&c, n); err == nil && n.Nlink == 1 {
		c.Grew = -n.Content.Size
	}
	return c, err
}

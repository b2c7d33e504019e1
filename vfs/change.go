package vfs

import (
	"slices"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/schema"
)

// A change is what a verb did to a path, with the file whose content it gave.
type change struct {
	journal.Change
	ino     Ino // the file whose content is now the one of After; 0: none
	content chunk.Content
}

// A source is the change that gave a file its content: a later change names it instead of the sum.
type source struct {
	content chunk.Content
	sum     Sum
	seq     int64
}

// record notes what a verb has done. It stands or falls with the verb.
func (tx *Tx) record(c change) error {
	seq, err := tx.log.Append(tx.epoch(), c.Change)
	if err == nil && c.ino != 0 {
		tx.cache.sources[c.ino] = source{c.content, c.After, seq}
	}
	return err
}

// Record notes a change of the branch that is not a verb's, for rooms that name snapshots and branches. path is from
// the root of the branch, "." for the branch itself. It is written with the transaction; it wakes watchers, and stands
// in the log. An op that is not 1 to 32 lower case letters and hyphens is EINVAL, and so is a path that is not clean.
func (tx *Tx) Record(op, path, arg string) error {
	c := change{Change: journal.Change{Op: Op(op), Path: path, Arg: arg}}
	err := tx.writable()
	if err == nil {
		err = c.Check()
	}
	if err == nil {
		err = tx.record(c)
	}
	return pathErr("record", path, err)
}

// recordAt is record for what a walk has found.
func (tx *Tx) recordAt(p place, c change) (err error) {
	if c.Path, err = tx.fromBranch(p.path()); err != nil {
		return err
	}
	return tx.record(c)
}

// fromBranch turns a path of the tree into one from the root of the branch: below OpenRoot they differ.
func (tx *Tx) fromBranch(path string) (string, error) {
	if tx.fsys.root == schema.RootIno {
		return path, nil
	}
	if tx.above == "" || tx.moves != tx.cache.moves { // a verb cannot move what is above its own root, but another Tx can
		above, err := tx.branchPath(tx.fsys.root)
		if err != nil {
			return "", err
		}
		tx.above, tx.moves = above, tx.cache.moves
	}
	if path == "." {
		return tx.above, nil
	}
	return tx.above + "/" + path, nil
}

// branchPath returns the path of a directory from the root of the branch. One that has lost its name is ENOENT.
func (tx *Tx) branchPath(dir Ino) (string, error) {
	path := ""
	var up climb
	for dir != schema.RootIno {
		if err := up.to(dir); err != nil {
			return "", err
		}
		names, err := tx.namesOf(dir)
		if err != nil {
			return "", err
		}
		if len(names) == 0 {
			return "", syscall.ENOENT
		}
		path = "/" + names[0].Base + path
		dir = names[0].Dir
	}
	if path == "" {
		return ".", nil
	}
	return path[1:], nil
}

// branchPaths returns the paths from the root of the branch that lead to an inode.
func (tx *Tx) branchPaths(ino Ino) ([]string, error) {
	names, err := tx.namesOf(ino)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		dir, err := tx.branchPath(name.Dir)
		switch {
		case err == syscall.ENOENT:
		case err != nil:
			return nil, err
		default:
			paths = append(paths, below(dir, name.Base))
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// below joins a path and what is under it.
func below(dir, path string) string {
	if dir == "." {
		return path
	}
	return dir + "/" + path
}

// sumOf returns the sum of a regular file's content, and none for anything else.
func (tx *Tx) sumOf(n *inode) (Sum, error) {
	if n == nil || n.kind() != kindFile {
		return Sum{}, nil
	}
	return chunk.SumOfContent(tx.db, n.content)
}

// was notes the content that n has before the change.
func (tx *Tx) was(c *change, n *inode) (err error) {
	if s, ok := tx.cache.sources[n.ino]; ok && s.content == n.content {
		c.Before, c.Origin = s.sum, s.seq
		return nil
	}
	c.Before, err = tx.sumOf(n)
	return err
}

// is notes the content that n has after it.
func (c *change) is(n *inode, sum Sum) { c.After, c.ino, c.content = sum, n.ino, n.content }

// loss is the change that a name is taken away from n: its content goes with the last one.
func (tx *Tx) loss(op Op, n *inode) (c change, err error) {
	c.Op = op
	if err = tx.was(&c, n); err == nil && n.nlink == 1 {
		c.Grew = -n.content.Size
	}
	return c, err
}

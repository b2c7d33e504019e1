package vfs

import (
	"slices"
	"strings"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// A change is a row of the table change before it is written.
type change struct {
	op, path, arg string
	before, after Sum // zero: none
	grew          int64
	origin        int64 // if not 0, a row whose after is our before

	ino     Ino // the file whose content is now the one of after; 0: none
	content chunk.Content

	seq, epoch int64 // set by record
}

// A source is the row of the table change that tells the sum of a file's content.
type source struct {
	content chunk.Content
	sum     Sum
	seq     int64
}

// A row names the row that its before is the after of, rather than repeat the sum, only if that is less than reach rows
// back: a trim has to look no further.
const reach = 1024

// record notes what a verb has done. Rows are written some at a time, and before the commit, so that they stand or
// fall with the verb.
func (tx *Tx) record(c change) (err error) {
	c.epoch = tx.epoch()
	if c.seq, err = tx.db.NextID("change"); err != nil {
		return err
	}
	if c.ino != 0 {
		tx.cache.sources[c.ino] = source{c.content, c.after, c.seq}
	}
	tx.changes = append(tx.changes, c)
	if len(tx.changes) < maxChanges {
		return nil
	}
	return tx.writeChanges()
}

// maxChanges bounds the rows that wait in memory.
const maxChanges = 256

// writeChanges writes the rows that wait.
func (tx *Tx) writeChanges() error {
	if len(tx.changes) == 0 {
		return nil
	}
	call, err := tx.callID()
	if err != nil {
		return err
	}
	if !tx.told {
		tx.told = true
		tx.db.AfterCommit(tx.fsys.store.wake.all)
	}
	branch := tx.fsys.at.Branch
	for i := range tx.changes {
		c := &tx.changes[i]
		before := sumOrNull(&c.before)
		if c.origin != 0 && c.seq-c.origin < reach {
			before = c.origin
		}
		if _, err := tx.db.Exec(`INSERT INTO change (seq, branch, epoch, at, call, op, path, arg, before, after, grew)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.seq, branch, c.epoch, tx.now, call, c.op, c.path, textOrNull(c.arg), before, sumOrNull(&c.after), c.grew); err != nil {
			return err
		}
	}
	tx.changes = tx.changes[:0]
	return nil
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func sumOrNull(sum *Sum) any {
	if *sum == (Sum{}) {
		return nil
	}
	return sum[:]
}

// Record notes a change of the branch that is not a verb's, for rooms that name snapshots and branches. path is from
// the root of the branch, "." for the branch itself. It is written with the transaction; it wakes watchers, and stands
// in the log. An op that is not 1 to 32 lower case letters and hyphens is EINVAL, and so is a path that is not clean.
func (tx *Tx) Record(op, path, arg string) error {
	if err := tx.writable(); err != nil {
		return pathErr("record", path, err)
	}
	if !validOp(op) || !validEventPath(path) || len(arg) > maxPath {
		return pathErr("record", path, syscall.EINVAL)
	}
	return pathErr("record", path, tx.record(change{op: op, path: path, arg: arg}))
}

// validEventPath reports whether a path is as it stands in the log.
func validEventPath(path string) bool {
	return path != "" && strings.IndexByte(path, 0) < 0 && cleaned(path) == path
}

func validOp(op string) bool {
	other := func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }
	return op != "" && len(op) <= 32 && !strings.ContainsFunc(op, other)
}

// recordAt is record for what a walk has found.
func (tx *Tx) recordAt(p place, c change) (err error) {
	if c.path, err = tx.fromBranch(p.path()); err != nil {
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
		c.before, c.origin = s.sum, s.seq
		return nil
	}
	c.before, err = tx.sumOf(n)
	return err
}

// is notes the content that n has after it.
func (c *change) is(n *inode, sum Sum) { c.after, c.ino, c.content = sum, n.ino, n.content }

// loss is the change that a name is taken away from n: its content goes with the last one.
func (tx *Tx) loss(op string, n *inode) (c change, err error) {
	c.op = op
	if err = tx.was(&c, n); err == nil && n.nlink == 1 {
		c.grew = -n.content.Size
	}
	return c, err
}

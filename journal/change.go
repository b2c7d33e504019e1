package journal

import (
	"strings"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/schema"
)

// A Change is a row of the table change before it is written: the effect of a verb on a path.
type Change struct {
	Op        Op
	Path, Arg string // see [Event]
	Before    chunk.Sum
	After     chunk.Sum // both zero: none
	Grew      int64     // bytes by which the contents of the tree grew

	Ino, Dir, ArgDir, Displaced node.Ino // see [Event]; 0: none

	// Origin, if it is not 0, is an earlier change whose After is the Before of this one.
	Origin int64
}

// Reach is how far back a row may name the row whose after is its before, rather than repeat the sum: a trim has to look
// no further.
const Reach = 1024

// maxWaiting bounds the rows that wait in memory: all of one block.
const maxWaiting = blockSize

// maxText bounds the path and the argument of a change, in bytes.
const maxText = 4096

// A Writer appends changes of one branch as part of a transaction. Some wait in memory until Flush. It is used by the
// goroutine of the transaction.
type Writer struct {
	journal *Journal
	tx      *schema.Tx
	branch  int64
	now     int64 // the time of every change, in ns

	waiting []row
	call    int64 // the row of the call that this is part of; 0 before it is needed
	step    int64 // the epoch that was noted last as a step of it
	wakes   bool  // watchers are woken after the commit
}

type row struct {
	Change
	seq, epoch int64
}

// Writer returns a writer for a branch. now is the time of its changes, in ns since 1970.
func (j *Journal) Writer(tx *schema.Tx, branch, now int64) *Writer {
	return &Writer{journal: j, tx: tx, branch: branch, now: now}
}

// Append adds a change that happened in an epoch of the branch, and returns its number.
func (w *Writer) Append(epoch int64, c Change) (seq int64, err error) {
	if seq, err = w.tx.NextID("change"); err != nil {
		return 0, err
	}
	w.waiting = append(w.waiting, row{c, seq, epoch})
	if len(w.waiting) < maxWaiting && blockOf(seq+1) == blockOf(seq) {
		return seq, nil
	}
	return seq, w.Flush()
}

// Flush writes the changes that wait. It must run before the transaction commits. A nil Writer has none.
func (w *Writer) Flush() error {
	if w == nil || len(w.waiting) == 0 {
		return nil
	}
	call, err := w.count(tallyOf(w.waiting))
	if err != nil {
		return err
	}
	if !w.wakes {
		w.wakes = true
		w.tx.AfterCommit(w.journal.wake.all)
	}

	for i := range w.waiting {
		c := &w.waiting[i]
		if err := w.insert(c, call); err != nil {
			return err
		}
		if call != 0 && (c.Ino != 0 || c.Dir != 0) { // else it is a change of the branch, and not of its tree
			if err := w.AddStep(c.epoch, call); err != nil {
				return err
			}
		}
	}

	err = w.addTrails()
	w.waiting = w.waiting[:0]
	return err
}

// addTrails adds the trails of the blocks that the rows of a flush fill.
func (w *Writer) addTrails() error {
	first, last := w.waiting[0].seq, w.waiting[len(w.waiting)-1].seq
	from, to := blockOf(first), blockOf(last+1)-1
	switch {
	case from > to:
		return nil
	case from == to && len(w.waiting) == blockSize: // all rows of it
		var m trailMaker
		for i := range w.waiting {
			c := &w.waiting[i]
			m.add(c.seq, c.Op, c.Path, c.Arg)
		}
		return m.insert(w.tx, from)
	}

	// Other writers of this transaction may still have to write their part, earlier transactions have written theirs.
	w.tx.BeforeCommit(func(tx *schema.Tx) error { return readTrails(tx, from, to) })
	return nil
}

// RecordCall returns the row of the call that the transaction is part of, and makes it if there is none; 0 without a call.
func (w *Writer) RecordCall() (int64, error) { return w.count(tally{}) }

// count is RecordCall, and adds changes to those that the row counts.
func (w *Writer) count(made tally) (int64, error) {
	c := CallOf(w.tx.Context())
	if c == nil {
		return w.call, nil
	}
	if id := w.Call(); id != 0 {
		if made.changes == 0 {
			return id, nil
		}
		return id, addChanges(w.tx, id, made)
	}

	id, err := w.journal.insertCall(w.tx, w.branch, c, w.now, made)
	if err == nil {
		w.call = id
	}
	return id, err
}

// insert adds the row of a change, and one of the table other if it needs one.
func (w *Writer) insert(c *row, call int64) error {
	before := sumOrNull(&c.Before)
	if c.Origin != 0 && c.seq-c.Origin < Reach {
		before = c.Origin
	}
	if _, err := w.tx.Exec(`INSERT INTO change (seq, branch, epoch, at, call, op, path, arg, before, after, grew, ino, dir)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.seq, branchOrNull(w.branch), c.epoch, w.now, idOrNull(call), string(c.Op), c.Path, textOrNull(c.Arg), before, sumOrNull(&c.After), c.Grew,
		idOrNull(c.Ino), idOrNull(c.Dir)); err != nil {
		return err
	}

	// A rename within one directory is read back with it, see eventColumns.
	argdir := c.ArgDir
	if c.Op == OpRename && argdir == c.Dir {
		argdir = 0
	}
	if argdir == 0 && c.Displaced == 0 {
		return nil
	}
	_, err := w.tx.Exec(`INSERT INTO other (seq, argdir, displaced) VALUES (?, ?, ?)`, c.seq, idOrNull(argdir), idOrNull(c.Displaced))
	return err
}

// Check refuses a change that cannot stand in the record with EINVAL: an op that is not [ValidOp], a path that is not
// [ValidPath], an argument over 4096 bytes.
func (c *Change) Check() error {
	if !ValidOp(string(c.Op)) || !ValidPath(c.Path) || len(c.Arg) > maxText {
		return syscall.EINVAL
	}
	return nil
}

// ValidOp reports whether an op is 1 to 32 lower case letters and hyphens.
func ValidOp(op string) bool {
	other := func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }
	return op != "" && len(op) <= 32 && !strings.ContainsFunc(op, other)
}

// ValidPath reports whether a path is clean, as every path in the record is.
func ValidPath(path string) bool {
	return path != "" && strings.IndexByte(path, 0) < 0 && Clean(path) == path
}

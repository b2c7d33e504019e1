package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Options select the calls that [Undo] takes back, by one of the first five. A nil *Options is the zero value: the last call
// that changed something, is not undone, and is no undo or redo itself.
type Options struct {
	Call    int64     // this one
	Session string    // those of a session
	Actor   string    // those of an actor
	Since   time.Time // those that began at this time or later
	Own     bool      // the last one, as of the zero value, that has the session and the actor of the call of the undo

	// DryRun finds out the result, and changes nothing. It waits for other writers, as an undo does.
	DryRun bool
}

// RedoOptions select the undo that [Redo] takes back, by one of the first two. A nil *RedoOptions is the zero value: the last
// undo that is not taken back yet.
type RedoOptions struct {
	Call   int64 // the undo that is this call
	Own    bool  // the last one that has the session and the actor of the call of the redo
	DryRun bool  // as in [Options]
}

// A Result is what an undo or a redo has done.
type Result struct {
	Calls     []vfs.CallRecord  // that were taken back, the latest first; without the numbers of their changes
	By        int64             // the call that took them back: a redo takes back this one. Of a dry run 0
	Changes   []snapshot.Change // of the head
	Conflicts []merge.Conflict  // that it made
}

// errDry ends the transaction of a dry run.
var errDry = errors.New("dry run")

// Undo takes back what calls changed on the branch of fsys, and before a fork on the branches that it comes from, and leaves
// what came later. It is one commit, and a call of its own if the context has none. It does not fail for conflicts: what
// conflicts stays as it was, and [merge.Conflicts] lists it.
//
// A call that is not recorded, or no call to take back, is ENOENT; one that changed nothing, or only other branches, and
// selections that contradict each other, EINVAL; one that is undone, EALREADY; one whose states a collection has taken, a
// [CollectedError]; a tree of the past EROFS. Then nothing is changed.
func Undo(ctx context.Context, fsys *vfs.FS, options *Options) (*Result, error) {
	w, err := options.work()
	if err != nil {
		return nil, err
	}
	return w.run(ctx, fsys)
}

// UndoIn is [Undo] within a transaction, which is part of a call: one without is EINVAL. Of a dry run the caller rolls the
// transaction back. [Settle] goes before.
func UndoIn(tx *vfs.Tx, options *Options) (*Result, error) {
	w, err := options.work()
	if err != nil {
		return nil, err
	}
	return w.takeBack(tx)
}

// Redo takes back an undo on the branch, so that what it took back is done again. It is as [Undo] otherwise. No such undo is
// ENOENT, and a call that is no undo EINVAL.
func Redo(ctx context.Context, fsys *vfs.FS, options *RedoOptions) (*Result, error) {
	w, err := options.work()
	if err != nil {
		return nil, err
	}
	return w.run(ctx, fsys)
}

// RedoIn is [Redo] within a transaction, as [UndoIn] is [Undo].
func RedoIn(tx *vfs.Tx, options *RedoOptions) (*Result, error) {
	w, err := options.work()
	if err != nil {
		return nil, err
	}
	return w.takeBack(tx)
}

// A work is one undo or redo.
type work struct {
	what   string // undo or redo
	dry    bool
	choose func(*selector) ([]int64, error) // the calls to take back, the latest first
}

// work returns the undo that the options describe, if they make sense.
func (o *Options) work() (work, error) {
	var given Options
	if o != nil {
		given = *o
	}
	choose := func(s *selector) ([]int64, error) { return s.toUndo(given) }
	return work{"undo", given.DryRun, choose}, given.check()
}

// work returns the redo that the options describe, if they make sense.
func (o *RedoOptions) work() (work, error) {
	var given RedoOptions
	if o != nil {
		given = *o
	}
	choose := func(s *selector) ([]int64, error) { return s.toRedo(given) }
	return work{"redo", given.DryRun, choose}, given.check()
}

// Settle writes what open files of the branch still wait with, as part of no call: it is no part of an undo that follows.
func Settle(ctx context.Context, fsys *vfs.FS) error {
	return fsys.Update(vfs.WithCall(ctx, nil), func(tx *vfs.Tx) error { return (*tree.Tx)(tx).TakeWrites() })
}

// check refuses options that make no sense.
func (o *Options) check() error {
	n := 0
	for _, given := range []bool{o.Call != 0, o.Session != "", o.Actor != "", !o.Since.IsZero(), o.Own} {
		if given {
			n++
		}
	}
	switch {
	case n > 1:
		return refuse("undo", syscall.EINVAL, "a call, a session, an actor, a time and the own last call exclude each other")
	case o.Call < 0:
		return refuse("undo", syscall.EINVAL, "a call has no number below 0")
	case o.Since.After(time.Now()):
		return refuse("undo", syscall.EINVAL, "%s is in the future", o.Since.Format(time.RFC3339))
	}
	return nil
}

func (o *RedoOptions) check() error {
	switch {
	case o.Call != 0 && o.Own:
		return refuse("redo", syscall.EINVAL, "a call and the own last undo exclude each other")
	case o.Call < 0:
		return refuse("redo", syscall.EINVAL, "a call has no number below 0")
	}
	return nil
}

// refuse returns an error with its reason.
func refuse(what string, errno syscall.Errno, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", what, fmt.Sprintf(format, args...), errno)
}

// run is the work in a transaction of its own.
func (w work) run(ctx context.Context, fsys *vfs.FS) (*Result, error) {
	if journal.CallOf(ctx) == nil {
		ctx = vfs.WithCall(ctx, &vfs.Call{Tool: w.what})
	}
	if !(*tree.Tree)(fsys).Whole() {
		return nil, &fs.PathError{Op: w.what, Path: fsys.Name(), Err: syscall.EINVAL}
	}

	// Writes of open files that wait are no part of the undo.
	if !w.dry {
		if err := Settle(ctx, fsys); err != nil {
			return nil, pathErr(w.what, fsys, err)
		}
	}

	var result *Result
	err := fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
		result, err = w.takeBack(tx)
		if err == nil && w.dry {
			err = errDry
		}
		return err
	})
	if err != nil && err != errDry {
		return nil, pathErr(w.what, fsys, err)
	}
	return result, nil
}

// pathErr names the operation in an error that has no name yet.
func pathErr(what string, fsys *vfs.FS, err error) error {
	if _, bare := err.(syscall.Errno); bare {
		return &fs.PathError{Op: what, Path: fsys.Name(), Err: err}
	}
	return err
}

// takeBack is the work within a transaction.
func (w work) takeBack(vtx *vfs.Tx) (*Result, error) {
	tx := (*tree.Tx)(vtx)
	by := journal.CallOf(tx.DB().Context())
	if by == nil {
		return nil, refuse(w.what, syscall.EINVAL, "the transaction is part of no call")
	}

	// The work is a step of its own, so that it can be taken back itself.
	now, err := tx.EndStep()
	if err != nil {
		return nil, err
	}
	own, err := tx.Claim()
	if err != nil {
		return nil, err
	}

	levels, err := history.ReadLineage(tx.DB(), tx.Moment())
	if err != nil {
		return nil, err
	}
	s := &selector{tx: tx, levels: levels, what: w.what, own: own, by: by}
	calls, err := w.choose(s)
	if err != nil {
		return nil, err
	}
	r := &Result{By: own}
	if w.dry {
		r.By = 0
	}
	if r.Calls, err = records(tx, calls); err != nil {
		return nil, err
	}

	spans, err := s.spans(calls)
	if err != nil {
		return nil, err
	}
	if r.Conflicts, err = merge.Back(vtx, spans); err != nil {
		return nil, err
	}
	if err := noteUndone(tx, calls, own); err != nil {
		return nil, err
	}
	r.Changes, err = changesSince(tx, now)
	return r, err
}

// records returns what the log has of some calls.
func records(tx *tree.Tx, calls []int64) ([]vfs.CallRecord, error) {
	var list []vfs.CallRecord
	for _, id := range calls {
		call, there, err := journal.ReadCall(tx.DB(), id)
		if err != nil {
			return nil, err
		}
		if !there {
			call.ID = id
		}
		list = append(list, call)
	}
	return list, nil
}

// noteUndone notes that calls are undone from the present epoch of the branch on.
func noteUndone(tx *tree.Tx, calls []int64, by int64) error {
	branch := tx.Moment().Branch
	epoch, _, err := history.ReadBranch(tx.DB(), branch)
	if err != nil {
		return err
	}
	for _, id := range calls {
		if err := journal.AddUndone(tx.DB(), branch, epoch, id, by); err != nil {
			return err
		}
	}
	return nil
}

// changesSince returns the changes of the head since a past moment of it.
func changesSince(tx *tree.Tx, at history.Moment) ([]snapshot.Change, error) {
	past, err := tx.Past(at)
	if err != nil {
		return nil, err
	}
	then, err := tx.On(past)
	if err != nil {
		return nil, err
	}
	delta, err := tree.Compare(then, tx)
	if err != nil {
		return nil, err
	}
	return snapshot.DiffIn((*vfs.Tx)(tx), (*vfs.FS)(past), delta)
}

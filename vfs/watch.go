package vfs

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"syscall"

	"vfsdb/schema"
)

// A TrimmedError says that events which a watcher has not seen are no longer kept. It is ESTALE.
type TrimmedError struct {
	Since int64 // what can be given to Watch, to go on with the oldest event that is kept
}

func (e *TrimmedError) Error() string {
	return fmt.Sprintf("events up to %d are no longer kept: look at the tree, and go on from there", e.Since)
}

// Unwrap makes a TrimmedError an ESTALE.
func (e *TrimmedError) Unwrap() error { return syscall.ESTALE }

// Watch yields what happens on the branch to a path and to what is below it: each event once, in the order of the
// commits, made by whatever process, and waits for the next until ctx ends, whose error is then the last thing it
// yields. Events begin after since: give it the Seq of the last one that was seen to go on where that was, 0 to begin
// with the oldest that is kept, or what [FS.Seq] returns to begin now. Where events after since are no longer kept, the
// error is a [TrimmedError].
//
// prefix is cleaned but not resolved; "" is everything. An event above it is yielded too if it takes or brings the tree
// that it is in. A file with several names is told under the one that it was changed by. Below OpenRoot, prefix is from
// the place that the directory has when the watch begins, and events name paths from the root of the branch. A tree of
// the past is EINVAL: nothing happens there.
func (fsys *FS) Watch(ctx context.Context, prefix string, since int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := fsys.watch(ctx, prefix, since, func(e Event) bool { return yield(e, nil) }); err != nil {
			yield(Event{}, pathErr("watch", cleaned(prefix), err))
		}
	}
}

// watch returns nil only once yield has returned false.
func (fsys *FS) watch(ctx context.Context, prefix string, since int64, yield func(Event) bool) error {
	if fsys.Frozen() {
		return syscall.EINVAL
	}
	w := watcher{fsys: fsys, since: since}
	err := fsys.View(ctx, func(tx *Tx) (err error) {
		w.prefix, err = tx.fromBranch(cleaned(prefix))
		return err
	})
	if err != nil {
		return err
	}
	st := fsys.store
	defer st.wake.listen(st.db.Path())()
	for {
		woken := st.wake.next() // before the look, or what is committed after it would be missed
		for more := true; more; {
			if err := w.look(ctx); err != nil {
				return err
			}
			for _, e := range w.events {
				if !yield(e) {
					return nil
				}
			}
			more = w.more
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A watcher is how far a Watch has come. It holds no transaction while it waits, or while its caller works.
type watcher struct {
	fsys   *FS
	prefix string
	since  int64
	events []Event // found by the last look
	more   bool    // there may be more
}

// watchWindow is how many changes one read transaction looks at.
const watchWindow = 1024

const branchEvents = eventColumns + eventJoins + `WHERE c.seq BETWEEN ?1 AND ?2 AND c.branch = ?3 ORDER BY c.seq`

// look reads what has happened since, some of it.
func (w *watcher) look(ctx context.Context) error {
	w.events, w.more = w.events[:0], false
	if w.fsys.store.closed.Load() {
		return fs.ErrClosed
	}
	return w.fsys.View(ctx, func(tx *Tx) error {
		oldest, newest, err := span(tx.db)
		if err != nil {
			return err
		}
		switch {
		case w.since == 0:
			w.since = oldest - 1
		case w.since > max(newest, schema.FirstID-1):
			return fmt.Errorf("%w: event %d has not happened yet", syscall.EINVAL, w.since)
		}
		w.since = max(w.since, schema.FirstID-1)
		if w.since < oldest-1 {
			return &TrimmedError{Since: oldest - 1}
		}
		if w.since == newest {
			return nil
		}
		last := min(newest, w.since+watchWindow)
		rows := tx.db.Query(branchEvents, w.since+1, last, w.fsys.at.Branch)
		defer rows.Close()
		var order schema.Ascent
		for rows.Next() {
			if err := order.To("change", rows.Int(0)); err != nil {
				return err
			}
			if e := scanEvent(rows); e.concerns(w.prefix) {
				w.events = append(w.events, e)
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		w.since, w.more = last, last < newest
		return nil
	})
}

package journal

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"syscall"

	"vfsdb/schema"
)

// A TrimmedError reports that events which a watcher has not seen are no longer kept. It is ESTALE.
type TrimmedError struct {
	Since int64 // Watch from here goes on with the oldest event that is kept
}

// Error names the last event that is not kept.
func (e *TrimmedError) Error() string {
	return fmt.Sprintf("events up to %d are no longer kept: look at the tree, and go on from there", e.Since)
}

// Unwrap makes a TrimmedError an ESTALE.
func (e *TrimmedError) Unwrap() error { return syscall.ESTALE }

// Watch yields the events on the branch of a source that concern a path or one below it: each event once, in the order of
// the commits, whichever process made them. It waits for the next one until ctx ends, whose error is then the last thing it
// yields.
//
// Events begin after the number since. The Seq of the last event that was seen goes on where that was; 0 begins with the
// oldest that is kept, and the result of [Journal.Seq] begins now. Where events after since are no longer kept, the error is
// a [TrimmedError].
//
// prefix is a clean path from the root of the branch; "." is everything. An event above it is yielded too if it takes or
// brings the tree that it is in. A change of a file with several names is recorded under the name that it was changed by.
func (j *Journal) Watch(ctx context.Context, src Source, prefix string, since int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := j.watch(ctx, src, prefix, since, func(e Event) bool { return yield(e, nil) }); err != nil {
			yield(Event{}, err)
		}
	}
}

// watch returns nil only once yield has returned false.
func (j *Journal) watch(ctx context.Context, src Source, prefix string, since int64, yield func(Event) bool) error {
	w := watcher{journal: j, src: src, prefix: prefix, since: since}
	defer j.wake.listen(j.db.Path())()
	for {
		woken := j.wake.next() // before the look, or a commit right after it would be missed
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
	journal *Journal
	src     Source
	prefix  string
	since   int64
	events  []Event // found by the last look
	more    bool    // there may be more
}

// watchWindow is how many changes one read transaction looks at.
const watchWindow = 1024

const branchEvents = eventColumns + eventJoins + `WHERE c.seq BETWEEN ?1 AND ?2 AND ifnull(c.branch, 1024) = ?3 ORDER BY c.seq`

// look reads what has happened since, some of it.
func (w *watcher) look(ctx context.Context) error {
	w.events, w.more = w.events[:0], false
	if w.journal.closed.Load() {
		return fs.ErrClosed
	}

	return w.src.View(ctx, func(tx *schema.Tx) error {
		oldest, newest, err := Span(tx)
		if err != nil {
			return err
		}

		// Find the place in the record: 0 is its beginning, and a place before that was trimmed away.
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

		// Read one window. The look ends at its last number even if nothing there concerns the path.
		last := min(newest, w.since+watchWindow)
		rows := tx.Query(branchEvents, w.since+1, last, w.src.Branch)
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

package journal

import (
	"context"
	"time"

	"vfsdb/schema"
)

// A Trimmer deletes the oldest rows of the record, see [Read] and [Journal.Calls], until no more than a number
// of each is left. It goes in steps.
type Trimmer struct {
	db   *schema.DB
	keep int64
	dry  bool

	// Changes and Calls count the deleted rows; of a dry run, those that would be deleted.
	Changes, Calls int64
}

// NewTrimmer returns a trimmer that leaves the newest keep changes, and as many calls. A dry one counts, and
// deletes nothing.
func (j *Journal) NewTrimmer(keep int64, dry bool) *Trimmer {
	return &Trimmer{db: j.db, keep: keep, dry: dry}
}

// A TrimStep is the outcome of one step of a trimmer, in one short transaction.
type TrimStep struct {
	Count int           // rows that went
	Held  time.Duration // how long the step held the write lock
	Done  bool          // nothing is left
}

// Step deletes up to limit rows. It is durable as soon as a later commit is.
func (t *Trimmer) Step(ctx context.Context, limit int) (step TrimStep, err error) {
	var changes, calls trimRange
	err = t.db.View(ctx, func(tx *schema.Tx) (err error) {
		changes, calls, err = t.ranges(tx)
		return err
	})

	switch {
	case err != nil:
		return step, err
	case t.dry:
		t.Changes, t.Calls = changes.count(), calls.count()
		return TrimStep{Count: int(t.Changes + t.Calls), Done: true}, nil
	case changes.count()+calls.count() == 0:
		return TrimStep{Done: true}, nil
	}

	// The ranges are read again: others may have trimmed meanwhile.
	var began time.Time
	var n [2]int64
	err = t.db.Stage(ctx, func(tx *schema.Tx) (err error) {
		began = time.Now()
		if changes, calls, err = t.ranges(tx); err != nil {
			return err
		}

		tx.SetMemo(nil) // it may know a row that goes
		if n[0], err = trimChanges(tx, changes.first(limit)); err != nil {
			return err
		}
		n[1], err = trimCalls(tx, calls.first(limit-int(n[0])))
		return err
	})
	if err != nil {
		return step, err
	}

	if n[0]+n[1] == 0 && changes.count()+calls.count() > 0 {
		return step, schema.Corrupt("changes %d to %d and calls %d to %d are listed and not found", changes.oldest, changes.last, calls.oldest, calls.last)
	}

	t.Changes += n[0]
	t.Calls += n[1]
	return TrimStep{Count: int(n[0] + n[1]), Held: time.Since(began)}, nil
}

// A trimRange are the rows, from the oldest on, that may go; none if they cross.
type trimRange struct{ oldest, last int64 }

func (r trimRange) count() int64 { return max(0, r.last-r.oldest+1) }

// first returns the last of the first n rows; one below the oldest if there is none.
func (r trimRange) first(n int) int64 { return r.oldest + min(int64(n), r.count()) - 1 }

func (t *Trimmer) ranges(tx *schema.Tx) (changes, calls trimRange, err error) {
	if kept, err := Kept(tx); err != nil || !kept {
		return changes, calls, err
	}
	oldest, newest, err := Span(tx)
	if err != nil {
		return changes, calls, err
	}
	changes = trimRange{oldest, newest - t.keep}
	oldest, newest, err = CallSpan(tx)
	return changes, trimRange{oldest, newest - t.keep}, err
}

// trimChanges deletes the rows up to last. Those that stay, and have their before from one that goes, get a copy of it.
func trimChanges(tx *schema.Tx, last int64) (int64, error) {
	if _, err := tx.Exec(`UPDATE change SET before = (SELECT o.after FROM change o WHERE o.seq = change.before)
		WHERE seq > ?1 AND seq < ?1 + 1024 AND typeof(before) = 'integer' AND before <= ?1`, last); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(`DELETE FROM other WHERE seq <= ?`, last); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(`DELETE FROM trail WHERE block < ?`, blockOf(last+1)); err != nil {
		return 0, err
	}
	return tx.Exec(`DELETE FROM change WHERE seq <= ?`, last)
}

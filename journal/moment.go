package journal

import (
	"time"

	"vfsdb/history"
	"vfsdb/schema"
)

// Begin returns the time of the oldest change that is recorded still; kept is false if there is none.
func Begin(tx *schema.Tx) (at time.Time, kept bool, err error) {
	oldest, newest, err := Span(tx)
	if err != nil || oldest > newest {
		return time.Time{}, false, err
	}
	ns, kept, err := tx.Int(`SELECT at FROM change WHERE seq = ?`, oldest)
	return time.Unix(0, ns), kept, err
}

// FirstAfter returns where the first change later than a time stands, of those of some levels; found is false if there is
// none. What names a branch or a snapshot is no change of a tree. It costs a look at each change after that time until the
// one that it returns, and at some before.
func FirstAfter(tx *schema.Tx, t time.Time, levels []history.Level) (at history.Moment, found bool, err error) {
	first, err := seqAfter(tx, t)
	if err != nil {
		return at, false, err
	}

	rows := tx.Query(`SELECT ifnull(branch, 1024), epoch, op FROM change WHERE seq >= ? ORDER BY seq`, first)
	defer rows.Close()
	for rows.Next() {
		switch Op(rows.Text(2)) {
		case OpSnapshot, OpSnapshotDelete, OpBranch, OpBranchDelete, OpBranchRename:
			continue
		}
		at = history.Moment{Branch: rows.Int(0), Epoch: rows.Int(1)}
		for _, l := range levels {
			if l.Branch == at.Branch && at.Epoch <= l.Cap {
				return at, true, nil
			}
		}
	}
	return at, false, rows.Err()
}

// seqAfter returns the number of the first change that is later than a time; if there is none, the one that comes next. Times
// ascend with the numbers.
func seqAfter(tx *schema.Tx, t time.Time) (int64, error) {
	first, newest, err := Span(tx)
	if err != nil {
		return 0, err
	}
	for last := newest + 1; first < last; {
		middle := first + (last-first)/2
		ns, err := timeOf(tx, middle)
		if err != nil {
			return 0, err
		}
		if time.Unix(0, ns).After(t) {
			last = middle
		} else {
			first = middle + 1
		}
	}
	return first, nil
}

// timeOf returns the time of a change, in ns.
func timeOf(tx *schema.Tx, seq int64) (int64, error) {
	ns, there, err := tx.Int(`SELECT at FROM change WHERE seq = ?`, seq)
	if err == nil && !there {
		err = schema.Corrupt("change %d is missing", seq)
	}
	return ns, err
}

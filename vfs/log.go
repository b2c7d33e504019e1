package vfs

import (
	"context"
	"slices"

	"vfsdb/schema"
)

// LogOptions say which events [FS.Log] returns. A nil *LogOptions is the zero value: all that are kept, oldest first.
type LogOptions struct {
	Path    string // only what concerns this path, and what is below it, under the names that it had before too; "": all
	Session string // only events of calls of this session
	Since   int64  // only events with a higher Seq
	Until   int64  // only events with a lower Seq; 0: no limit
	Max     int    // at most so many; 0: no limit
	Newest  bool   // newest first
}

// Log returns what happened to the tree: on its branch, and before a fork on the branches that it comes from. A path is
// cleaned but not resolved, and is followed back through renames. What gc has trimmed is not there, nor what happened
// on branches between the oldest and the latest of a lineage that was squashed, which is one of more than 16 forks.
func (fsys *FS) Log(ctx context.Context, options *LogOptions) ([]Event, error) {
	l := logReader{fsys: fsys}
	if options != nil {
		l.o = *options
	}
	events, err := l.read(ctx)
	return events, pathErr("log", fsys.name, err)
}

// Seq returns the number of the newest event of the store, on any branch; 0 if nothing ever happened.
func (fsys *FS) Seq(ctx context.Context) (seq int64, err error) {
	err = fsys.store.db.View(ctx, func(db *schema.Tx) error {
		_, seq, err = span(db)
		return err
	})
	if seq < schema.FirstID {
		seq = 0
	}
	return seq, pathErr("seq", fsys.name, err)
}

// A logReader reads the events of one Log, in windows: none takes long.
type logReader struct {
	fsys           *FS
	o              LogOptions
	oldest, newest int64
	names          []alias // of the path
}

// An alias is a name that a path had, for events up to a number.
type alias struct {
	name  string
	until int64
}

// logWindow is how many changes one read transaction looks at.
const logWindow = 16384

func (l *logReader) read(ctx context.Context) ([]Event, error) {
	err := l.fsys.View(ctx, func(tx *Tx) (err error) {
		if l.oldest, l.newest, err = span(tx.db); err != nil || l.o.Path == "" {
			return err
		}
		name, err := tx.fromBranch(cleaned(l.o.Path))
		l.names = []alias{{name, l.newest}}
		return err
	})
	if err != nil {
		return nil, err
	}
	if l.o.Path != "" {
		if err := l.follow(ctx); err != nil {
			return nil, err
		}
	}
	var events []Event
	full := func() bool { return l.o.Max > 0 && len(events) >= l.o.Max }
	first, last := max(l.oldest, l.o.Since+1), l.newest
	if l.o.Until > 0 {
		last = min(last, l.o.Until-1)
	}
	f := logFilter{session: l.o.Session}
	if len(l.names) == 1 && l.names[0].name != "." {
		f.from, f.to = l.names[0].name, l.names[0].name+"0" // the byte after '/'
	}
	err = l.windows(ctx, first, last, l.o.Newest, f, func(e Event) bool {
		if l.wants(&e) {
			events = append(events, e)
		}
		return !full()
	})
	return events, err
}

// wants reports whether the event is one that was asked for.
func (l *logReader) wants(e *Event) bool {
	return l.names == nil || slices.ContainsFunc(l.names, func(a alias) bool { return e.Seq <= a.until && e.concerns(a.name) })
}

// follow finds the names that the path had, from now back.
func (l *logReader) follow(ctx context.Context) error {
	at := l.names[0].name
	return l.windows(ctx, l.oldest, l.newest, true, logFilter{op: "rename"}, func(e Event) bool {
		if at != "." && under(at, e.Path) {
			at = e.Arg + at[len(e.Path):]
			l.names = append(l.names, alias{at, e.Seq})
		}
		return true
	})
}

// A logFilter is what SQL leaves out already, because a row that is not wanted should cost little; "" is no filter. Of
// the paths from one to another come some that are not wanted, and of the ops that concern what is below them all.
type logFilter struct{ op, session, from, to string }

// windows calls fn for the events first to last that the tree has and the filter lets pass, until fn says no.
func (l *logReader) windows(ctx context.Context, first, last int64, back bool, f logFilter, fn func(Event) bool) error {
	more := true
	for more && first <= last {
		from, to := first, min(last, first+logWindow-1)
		if back {
			from, to = max(first, last-logWindow+1), last
			last = from - 1
		} else {
			first = to + 1
		}
		err := l.fsys.View(ctx, func(tx *Tx) (err error) {
			if err := tx.checkChange(from); err != nil {
				return err
			}
			more, err = tx.eventsOfTree(from, to, back, f, fn)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkChange makes sure that a change is there, unless gc has trimmed it meanwhile. So there are no more windows than
// rows, whatever the file says that the first and the last are.
func (tx *Tx) checkChange(seq int64) error {
	_, there, err := tx.db.Int(`SELECT seq FROM change WHERE seq = ?`, seq)
	if err != nil || there {
		return err
	}
	oldest, _, err := span(tx.db)
	if err == nil && oldest <= seq {
		err = corrupt("change %d is missing", seq)
	}
	return err
}

// The changes are the outer loop, by their numbers: a lineage is short. The plus keeps it to the rows of the lineage
// itself, which the index of ancestors would have to be right about.
const treeEvents = eventColumns + `CROSS JOIN lineage l ON l.branch = ?1 AND +l.ancestor = c.branch AND c.epoch <= iif(l.level = 0, ?2, l.epoch)` +
	eventJoins + `WHERE c.seq BETWEEN ?3 AND ?4 AND (?5 = '' OR c.op = ?5) AND (?6 = '' OR k.session = ?6)
	AND (?7 = '' OR c.path >= ?7 AND c.path < ?8 OR c.op IN ('rename', 'removeall', 'restore')) ORDER BY c.seq`

// eventsOfTree reads events of the branch and of those that it comes from, as of the forks.
func (tx *Tx) eventsOfTree(first, last int64, back bool, f logFilter, fn func(Event) bool) (more bool, err error) {
	text := treeEvents
	if back {
		text += ` DESC`
	}
	rows := tx.db.Query(text, tx.fsys.at.Branch, tx.fsys.at.Epoch, first, last, f.op, f.session, f.from, f.to)
	defer rows.Close()
	var order schema.Ascent
	for rows.Next() {
		seq := rows.Int(0)
		if back {
			seq = -seq
		}
		if err := order.To("change", seq); err != nil {
			return false, err
		}
		if !fn(scanEvent(rows)) {
			return false, nil
		}
	}
	return true, rows.Err()
}

package journal

import (
	"context"
	"slices"

	"vfsdb/schema"
)

// ReadOptions select the events that [Read] returns. A nil *ReadOptions is the zero value: all that are kept, oldest first.
type ReadOptions struct {
	Path    string // only events that concern this path or one below it, under the names that it had before too; "": all
	Session string // only events of calls of this session
	Since   int64  // only events with a higher Seq
	Until   int64  // only events with a lower Seq; 0: no limit
	Max     int    // how many events at most; 0: no limit
	Newest  bool   // newest first
}

// Read returns the events on a branch, and before a fork on the branches that it comes from. The path of the options is
// a clean one from the root of the branch, and is followed back through renames. Events that were trimmed are missing,
// as are those on branches between the oldest and the latest of a lineage that was squashed, which is one of more than 16
// forks.
func Read(ctx context.Context, src Source, options *ReadOptions) ([]Event, error) {
	r := reader{src: src}
	if options != nil {
		r.o = *options
	}
	return r.read(ctx)
}

// A reader reads events in windows: none takes long.
type reader struct {
	src            Source
	o              ReadOptions
	oldest, newest int64
	names          []alias // of the path
}

// An alias is a name that a path had, for events up to a number. Since an earlier one it is this path alone that had it.
type alias struct {
	name         string
	since, until int64
}

// window is how many changes one transaction of a reader looks at.
const window = 16384

func (r *reader) read(ctx context.Context) ([]Event, error) {
	err := r.src.View(ctx, func(tx *schema.Tx) (err error) {
		r.oldest, r.newest, err = Span(tx)
		return err
	})
	if err != nil {
		return nil, err
	}

	if r.o.Path != "" {
		if err := r.follow(ctx, r.o.Path); err != nil {
			return nil, err
		}
	}

	var events []Event
	full := func() bool { return r.o.Max > 0 && len(events) >= r.o.Max }

	first, last := max(r.oldest, r.o.Since+1), r.newest
	if r.o.Until > 0 {
		last = min(last, r.o.Until-1)
	}

	f := r.filter("")
	f.session = r.o.Session
	err = r.windows(ctx, first, last, r.o.Newest, f, func(e Event) bool {
		if r.wants(&e) {
			events = append(events, e)
		}
		return !full()
	})
	return events, err
}

// wants reports whether the event is one that was asked for.
func (r *reader) wants(e *Event) bool {
	return r.names == nil || slices.ContainsFunc(r.names, func(a alias) bool { return e.Seq <= a.until && e.concerns(a.name) })
}

// filter returns the part of what is asked for that is known before a change is read.
func (r *reader) filter(op Op) (f filter) {
	f.op = string(op)
	if len(r.names) == 1 && r.names[0].name != "." {
		f.from, f.to = r.names[0].name, r.names[0].name+"0" // the byte after '/'
	}
	names := make([]string, len(r.names))
	for i, a := range r.names {
		names[i] = a.name
	}
	f.probe = probeFor(f.op, names)
	return f
}

// follow adds a path to the names, and those that it had, from now back.
func (r *reader) follow(ctx context.Context, path string) error {
	at, last := path, r.newest
	r.names = append(r.names, alias{at, 0, last})
	for moved := at != "."; moved; {
		moved = false
		f := filter{op: string(OpRename), probe: probeForMove(at)}
		err := r.windows(ctx, r.oldest, last, true, f, func(e Event) bool {
			if moved = under(at, e.Path); moved {
				at, last = e.Arg+at[len(e.Path):], e.Seq-1
				r.names[len(r.names)-1].since = e.Seq
				r.names = append(r.names, alias{at, 0, e.Seq})
			}
			return !moved
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A filter leaves changes out before they are read, because one that is not wanted should cost little; "" is none. It lets some pass
// that are not wanted: the range of paths holds neighbours, and ops that concern a whole tree pass with any path.
type filter struct {
	op, session, from, to string
	call                  int64 // 0: any
	probe                 probe
}

// windows calls fn for the events first to last that the tree has and the filter lets pass, until fn returns false.
func (r *reader) windows(ctx context.Context, first, last int64, back bool, f filter, fn func(Event) bool) error {
	more := true
	for more && first <= last {
		err := r.src.View(ctx, func(tx *schema.Tx) (err error) {
			first, last, more, err = r.src.scan(tx, first, last, back, f, fn)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkThere makes sure that a change is there, unless gc has trimmed it meanwhile. So there are no more windows than
// rows, even if the first and the last number of the file are damaged.
func checkThere(tx *schema.Tx, seq int64) error {
	_, there, err := tx.Int(`SELECT seq FROM change WHERE seq = ?`, seq)
	if err != nil || there {
		return err
	}
	oldest, _, err := Span(tx)
	if err == nil && oldest <= seq {
		err = schema.Corrupt("change %d is missing", seq)
	}
	return err
}

// The changes are the outer loop, by their numbers: a lineage is short. The plus keeps it to the rows of the lineage
// itself, which the index of ancestors would have to be right about.
const sourceEvents = eventColumns + `CROSS JOIN lineage l ON l.branch = ?1 AND +l.ancestor = ifnull(c.branch, 1024) AND c.epoch <= iif(l.level = 0, ?2, l.epoch)` +
	eventJoins + `WHERE c.seq BETWEEN ?3 AND ?4 AND (?5 = '' OR c.op = ?5) AND (?6 = '' OR k.session = ?6)
	AND (?7 = '' OR c.path >= ?7 AND c.path < ?8 OR c.op IN ('rename', 'removeall', 'restore', 'merge')) AND (?9 = 0 OR c.call = ?9)
	ORDER BY c.seq`

// events reads events of the branch and of those that it comes from, as of the forks.
func (s Source) events(tx *schema.Tx, first, last int64, back bool, f filter, fn func(Event) bool) (more bool, err error) {
	text := sourceEvents
	if back {
		text += ` DESC`
	}

	rows := tx.Query(text, s.Branch, s.Epoch, first, last, f.op, f.session, f.from, f.to, f.call)
	defer rows.Close()

	// Numbers that do not ascend, or descend on the way back, are damage.
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

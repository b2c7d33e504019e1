package journal

import (
	"context"
	"slices"

	"vfsdb/node"
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
	ahead          look    // at what concerns the one path that had no other name, see follow
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

	spans := []part{{first: first, last: last}}
	if r.o.Session != "" {
		if spans, err = r.spansOfSession(ctx, first, last); err != nil {
			return nil, err
		}
	}
	f := r.filter("")
	f.session = r.o.Session
	for _, span := range spans {
		if full() {
			break
		}
		err := r.windows(ctx, span.first, span.last, r.o.Newest, f, func(e Event) bool {
			if r.wants(&e) {
				events = append(events, e)
			}
			return !full()
		})
		if err != nil {
			return nil, err
		}
	}
	return events, nil
}

const callsOfSession = `SELECT first, last FROM call WHERE session = ? AND last >= ? AND first <= ? ORDER BY first`

// spansOfSession returns the parts of a range of changes in which the calls of the session were at work, in the order in which they
// are to be read. Of a session of many calls, of which the first few events may do, it returns the range.
func (r *reader) spansOfSession(ctx context.Context, first, last int64) (spans []part, err error) {
	err = r.src.View(ctx, func(tx *schema.Tx) error {
		if kept, err := Kept(tx); err != nil || !kept {
			return err
		}
		if r.o.Max > 0 {
			_, n, err := callFilter{session: r.o.Session}.rarest(tx)
			if err != nil || n == few {
				spans = []part{{first: first, last: last}}
				return err
			}
		}

		// Calls may have worked side by side.
		rows := tx.Query(callsOfSession, r.o.Session, first, last)
		for rows.Next() {
			from, to := max(first, rows.Int(0)), min(last, rows.Int(1))
			if n := len(spans); n > 0 && from <= spans[n-1].last+1 {
				spans[n-1].last = max(spans[n-1].last, to)
			} else {
				spans = append(spans, part{first: from, last: to})
			}
		}
		return rows.Err()
	})
	if r.o.Newest {
		slices.Reverse(spans)
	}
	return spans, err
}

// wants reports whether the event is one that was asked for.
func (r *reader) wants(e *Event) bool {
	return r.names == nil || slices.ContainsFunc(r.names, func(a alias) bool { return e.Seq <= a.until && e.concerns(a.name) })
}

// filter returns the part of what is asked for that is known before a change is read.
func (r *reader) filter(op Op) (f filter) {
	f.op = string(op)
	for _, a := range r.names {
		if !slices.Contains(f.names, a.name) {
			f.names = append(f.names, a.name)
		}
	}
	f.probe = probeFor(f.op, f.names)
	if len(r.names) == 1 && op == "" {
		f.look = r.ahead
	}
	if len(f.names) > maxRanges || slices.Contains(f.names, ".") {
		f.names = nil
	}
	return f
}

// follow adds a path to the names, and those that it had, from now back.
func (r *reader) follow(ctx context.Context, path string) error {
	at, last := path, r.newest
	r.names = append(r.names, alias{at, 0, last})
	ahead := &beside{probe: probeFor("", []string{at})} // most paths had no other name
	look := look{beside: ahead}
	for moved := at != "."; moved; {
		moved = false
		f := filter{op: string(OpRename), probe: probeForMove(at), look: look}
		look.beside = nil
		err := r.windows(ctx, r.oldest, last, true, f, func(e Event) bool {
			if moved = node.Within(at, e.Path); moved {
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
	r.ahead = ahead.look
	return nil
}

// A filter leaves changes out before they are read, because one that is not wanted should cost little; "" is none. It lets some pass
// that are not wanted: the range of paths holds neighbours, and ops that concern a whole tree pass with any path.
type filter struct {
	op, session string
	names       []string // nil: any; up to maxRanges
	call        int64    // 0: any
	probe       probe
	look        look
}

// maxRanges is how many names a statement looks for; where there are more, each change is read.
const maxRanges = 8

// conditions returns what a part of the changes is asked for, with its arguments. A statement with no other
// conditions is a third faster: they are tested for each change.
func (f *filter) conditions(trees bool) (text string, args []any) {
	if f.op != "" {
		text, args = ` AND c.op = ?`, append(args, f.op)
	}
	if f.call != 0 {
		text, args = text+` AND c.call = ?`, append(args, f.call)
	}

	for i, name := range f.names {
		if i == 0 {
			text += ` AND (`
		} else {
			text += ` OR `
		}
		text, args = text+`c.path >= ? AND c.path < ?`, append(args, name, name+"0") // the byte after '/'
	}
	if len(f.names) > 0 {
		if trees {
			text += ofTrees
		}
		text += `)`
	}

	if f.session != "" {
		text, args = text+` AND k.session IS ?`, append(args, f.session)
	}
	return text, args
}

// ofTrees is the condition of treeOps. SQLite would make a table for a list of them, in each run.
const ofTrees = ` OR c.op = 'rename' OR c.op = 'removeall' OR c.op = 'restore' OR c.op = 'merge'`

// windows calls fn for the events first to last that the tree has and the filter lets pass, until fn returns false.
func (r *reader) windows(ctx context.Context, first, last int64, back bool, f filter, fn func(Event) bool) error {
	more := true
	for more && first <= last {
		err := r.src.View(ctx, func(tx *schema.Tx) (err error) {
			first, last, more, err = r.src.scan(tx, first, last, back, &f, fn)
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
	eventJoins + `WHERE c.seq BETWEEN ?3 AND ?4`

// events reads events of the branch and of those that it comes from, as of the forks.
func (s Source) events(tx *schema.Tx, in part, back bool, f *filter, fn func(Event) bool) (more bool, err error) {
	where, args := f.conditions(in.trees)
	text := sourceEvents + where + ` ORDER BY c.seq`
	if back {
		text += ` DESC`
	}

	rows := tx.Query(text, append([]any{s.Branch, s.Epoch, in.first, in.last}, args...)...)
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

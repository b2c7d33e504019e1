package journal

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"vfsdb/schema"
)

// A Deed is what one call did, or one commit that is part of no call.
type Deed struct {
	// CallRecord is the call. Changes counts all that it changed, whatever was asked for. Of a commit that is part of no call, and
	// of a call that is not kept any more, only At, Branch, First, Last, Changes and Grew are set, and describe the commit.
	CallRecord

	Undid  []int64  `json:"undid,omitempty"`  // the calls that it took back
	Events []Event  `json:"events,omitempty"` // the first changes that match the options, oldest first
	Names  []string `json:"-"`                // the names of the options' Paths while the call ran
}

// DeedOptions select what [Deeds] yields. A nil *DeedOptions is the zero value: all, newest first, without events.
type DeedOptions struct {
	// Only deeds with changes at one of these paths or below it, also under its earlier names.
	Paths []string

	Op                   Op        // only deeds with a change of this kind; "": any
	Session, Actor, Tool string    // only those of such calls; "": any
	Since                int64     // only deeds with changes that have a higher Seq
	From, To             time.Time // only deeds with changes between these times, both included; zero: no bound; see [Deeds]
	Trees                bool      // only calls that changed a tree, and not only its branches and snapshots
	Oldest               bool      // oldest first
	Events               int       // how many of the changes of each deed to read, of those that are asked for; -1: all
}

// Deeds yields what was done to the tree of a source, as calls and commits. They come in the order of their last changes: of
// calls that worked side by side, and of which only a part of the changes was asked for, about in that order.
//
// No transaction is held while the caller has a deed. Deeds that are committed meanwhile are not yielded. A deed of many changes costs
// as much as one of a few, unless others changed something in its course. Changes are found by time in a binary search: where the
// clock of the host was set back, some near that moment may be missed.
func Deeds(ctx context.Context, src Source, options *DeedOptions) iter.Seq2[Deed, error] {
	return func(yield func(Deed, error) bool) {
		d := deeds{reader: reader{src: src}, seen: make(map[int64]bool), most: 1}
		if options != nil {
			d.o = *options
		}
		err := d.begin(ctx)
		for err == nil && (d.first <= d.last || len(d.waiting) > 0) {
			if err = src.View(ctx, d.look); err != nil {
				break
			}
			for _, found := range d.found {
				if !yield(found, nil) {
					return
				}
			}
			d.found, d.most = d.found[:0], min(4*d.most, batch)
		}
		if err != nil {
			yield(Deed{}, err)
		}
	}
}

// deeds is one run of [Deeds]: how far it has come.
type deeds struct {
	reader
	o      DeedOptions
	filter filter
	calls  callFilter
	low    int64 // the numbers that are asked for
	high   int64

	first, last int64          // the numbers that are still to be looked at
	byCall      bool           // the calls are looked at, and not the changes
	id          int64          // the call that was looked at last
	seen        map[int64]bool // calls that were found, and may have more changes
	waiting     []Deed         // that were found before their last changes, oldest first
	found       []Deed
	most        int // how many deeds the next transaction finds at most
}

// batch is how many deeds one transaction finds at most. The first finds one, and each four times as many as the one before,
// because a caller may want but a few.
const batch = 64

func (d *deeds) begin(ctx context.Context) error {
	err := d.src.View(ctx, func(tx *schema.Tx) (err error) {
		if d.oldest, d.newest, err = Span(tx); err != nil {
			return err
		}
		d.low, d.high = max(d.oldest, d.o.Since+1), d.newest

		// Times are those of transactions, and ascend unless the clock was set back.
		if !d.o.From.IsZero() {
			first, err := seqAfter(tx, d.o.From.Add(-1))
			if err != nil {
				return err
			}
			d.low = max(d.low, first)
		}
		if !d.o.To.IsZero() {
			next, err := seqAfter(tx, d.o.To)
			if err != nil {
				return err
			}
			d.high = min(d.high, next-1)
		}

		// A look at each call is cheaper than one at each change if there are few calls, or if nothing is asked of the changes.
		d.calls = callFilter{d.o.Session, d.o.Actor, d.o.Tool}
		if kept, err := Kept(tx); err != nil || !kept || d.calls.empty() || d.high-d.low < few {
			return err
		}
		_, n, err := d.calls.rarest(tx)
		d.byCall = n < few || len(d.o.Paths) == 0 && d.o.Op == ""
		return err
	})
	if err != nil {
		return err
	}

	for _, path := range d.o.Paths {
		if err := d.follow(ctx, path); err != nil {
			return err
		}
	}
	d.filter = d.reader.filter(d.o.Op)
	d.first, d.last = d.low, d.high
	d.id = math.MaxInt64
	if d.o.Oldest {
		d.id = 0
	}
	return nil
}

// look finds the next deeds, if there are some in what one transaction looks at.
func (d *deeds) look(tx *schema.Tx) error {
	if d.byCall {
		return d.lookAtCalls(tx)
	}
	return d.lookAtChanges(tx)
}

// lookAtChanges goes through some of the changes.
func (d *deeds) lookAtChanges(tx *schema.Tx) error {
	for d.first <= d.last && len(d.found) < d.most {
		var hit *Event
		first, last, _, err := d.src.scan(tx, d.first, d.last, !d.o.Oldest, &d.filter, func(e Event) bool {
			if d.wanted(&e) {
				hit = &e
			}
			return hit == nil
		})
		switch {
		case err != nil:
			return err
		case hit == nil:
			d.first, d.last = first, last
			d.release()
			return nil
		}
		if err := d.add(tx, hit); err != nil {
			return err
		}
	}
	d.release()
	return nil
}

// wanted reports whether a change is of a deed that was asked for, and not found yet.
func (d *deeds) wanted(e *Event) bool {
	of := CallRecord{Session: e.Session, Actor: e.Actor, Tool: e.Tool}
	return (e.Call == 0 || !d.seen[e.Call]) && d.calls.matches(&of) && d.wants(e)
}

// add adds the deed of a change, and passes over it.
func (d *deeds) add(tx *schema.Tx, e *Event) error {
	var call CallRecord
	there, err := false, error(nil)
	if e.Call != 0 {
		if call, there, err = ReadCall(tx, e.Call); err != nil {
			return err
		}
	}
	whole := there && call.First != 0 && call.First <= e.Seq && e.Seq <= call.Last
	if !whole {
		if call, err = d.commit(tx, e); err != nil {
			return err
		}
	}

	// Others may have made changes in the course of a call. A commit has none in between.
	first, last := call.First, call.Last
	if whole {
		d.seen[call.ID] = true
		if call.Changes != last-first+1 {
			first, last = e.Seq, e.Seq
		}
	}
	if d.o.Oldest {
		d.first = last + 1
	} else {
		d.last = first - 1
	}

	deed, some, err := d.read(tx, call)
	if err != nil || !some {
		return err
	}
	if !d.o.Oldest {
		d.found = append(d.found, deed)
		return nil
	}
	at, _ := slices.BinarySearchFunc(d.waiting, deed.Last, func(w Deed, last int64) int { return int(w.Last - last) })
	d.waiting = slices.Insert(d.waiting, at, deed)
	d.release()
	return nil
}

// release moves the deeds that wait, and have no changes in what is still to be looked at, to those that are found.
func (d *deeds) release() {
	n := 0
	for n < len(d.waiting) && (d.waiting[n].Last < d.first || d.first > d.last) {
		n++
	}
	d.found = append(d.found, d.waiting[:n]...)
	d.waiting = slices.Delete(d.waiting, 0, n)
}

// commit returns what is known of a change without a call: the changes around it that were made with it.
func (d *deeds) commit(tx *schema.Tx, e *Event) (CallRecord, error) {
	c := CallRecord{ID: e.Call, At: e.At, Branch: e.Branch, Actor: e.Actor, Session: e.Session, Tool: e.Tool}
	var err error
	if c.First, err = edge(tx, e.Seq, d.oldest, -1); err != nil {
		return c, err
	}
	if c.Last, err = edge(tx, e.Seq, d.newest, 1); err != nil {
		return c, err
	}

	rows := tx.Query(`SELECT count(*), CAST(total(grew) AS INTEGER) FROM change WHERE seq BETWEEN ? AND ?`, c.First, c.Last)
	defer rows.Close()
	if rows.Next() {
		c.Changes, c.Grew = rows.Int(0), rows.Int(1)
	}
	return c, rows.Err()
}

// edge returns the last change, in one direction up to a limit, of those beside one that were made in the same commit.
func edge(tx *schema.Tx, seq, limit, direction int64) (int64, error) {
	alike := func(at int64) (bool, error) {
		if (limit-at)*direction < 0 {
			return false, nil
		}
		n, _, err := tx.Int(`SELECT n.at = c.at AND n.branch IS c.branch AND n.call IS c.call FROM change c, change n
			WHERE c.seq = ? AND n.seq = ?`, seq, at)
		return n == 1, err
	}

	// They stand side by side: look ever farther, until one is of another commit, and then between.
	inside, step := seq, int64(1)
	for {
		ok, err := alike(inside + direction*step)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		inside += direction * step
		step *= 2
	}
	for step > 1 {
		step /= 2
		ok, err := alike(inside + direction*step)
		if err != nil {
			return 0, err
		}
		if ok {
			inside += direction * step
		}
	}
	return inside, nil
}

// read returns the deed of a call, with the events that were asked for; some reports whether there are any.
func (d *deeds) read(tx *schema.Tx, call CallRecord) (deed Deed, some bool, err error) {
	deed.CallRecord = call
	if d.o.Trees {
		n, _, err := tx.Int(`SELECT EXISTS (SELECT 1 FROM step WHERE call = ?)`, call.ID)
		if err != nil || n == 0 {
			return deed, false, err
		}
	}
	if call.ID != 0 {
		if deed.Undid, err = TakenBack(tx, call.ID); err != nil {
			return deed, false, err
		}
	}

	for _, a := range d.names {
		if a.since <= call.Last && a.until >= call.First && !slices.Contains(deed.Names, a.name) {
			deed.Names = append(deed.Names, a.name)
		}
	}
	most := d.o.Events
	if d.byCall && most == 0 {
		most = 1 // to know whether there is one
	}
	if most == 0 {
		return deed, true, nil
	}
	f := filter{op: d.filter.op, names: d.filter.names, call: call.ID, probe: d.filter.probe}
	first, last := max(call.First, d.low), min(call.Last, d.high)
	for more := true; more && err == nil && first <= last; {
		first, last, more, err = d.src.scan(tx, first, last, false, &f, func(e Event) bool {
			if d.wants(&e) {
				deed.Events = append(deed.Events, e)
			}
			return most < 0 || len(deed.Events) < most
		})
	}
	return deed, len(deed.Events) > 0, err
}

// lookAtCalls goes through some of the calls that were asked for.
func (d *deeds) lookAtCalls(tx *schema.Tx) error {
	where, args, err := d.calls.where(tx)
	if err != nil {
		return err
	}
	text := callColumns + `WHERE ` + where + ` AND +c.first <= ? AND +c.last >= ? AND c.id < ? ORDER BY c.id DESC LIMIT ?`
	if d.o.Oldest {
		text = callColumns + `WHERE ` + where + ` AND +c.first <= ? AND +c.last >= ? AND c.id > ? ORDER BY c.id LIMIT ?`
	}
	var calls []CallRecord
	rows := tx.Query(text, append(args, d.high, d.low, d.id, d.most)...)
	for rows.Next() {
		calls = append(calls, scanCall(rows))
	}
	if err := rows.Err(); err != nil {
		return err
	}

	for _, call := range calls {
		d.id = call.ID
		apart, err := d.apart(tx, &call)
		if err != nil {
			return err
		}
		if apart {
			continue
		}
		deed, some, err := d.read(tx, call)
		if err != nil {
			return err
		}
		if some {
			d.found = append(d.found, deed)
		}
	}
	if len(calls) < d.most {
		d.first = d.last + 1
	}
	return nil
}

// apart reports that a call of many changes, which would cost a look at each, has changed other branches alone.
func (d *deeds) apart(tx *schema.Tx, call *CallRecord) (bool, error) {
	if call.Changes < batch {
		return false, nil
	}
	n, _, err := tx.Int(`SELECT EXISTS (SELECT 1 FROM step WHERE call = ?1) AND NOT EXISTS (SELECT 1 FROM step s CROSS JOIN lineage l
		ON l.branch = ?2 AND +l.ancestor = s.branch AND s.epoch <= iif(l.level = 0, ?3, l.epoch) WHERE s.call = ?1)`,
		call.ID, d.src.Branch, d.src.Epoch)
	return n == 1, err
}

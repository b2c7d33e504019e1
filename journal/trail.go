package journal

import (
	"slices"

	"vfsdb/schema"
)

// A trail tells which of the last changes a reader need not look at: it is a Bloom filter of what the changes of one block
// concern. A block without a trail is read: it is not full yet, or a version before 6 of the format has written it.

const (
	// blockBits is the logarithm of how many changes a block has.
	blockBits = 8

	// Of sixteen bits for a mark about seven of twenty are set, so a block is read in vain once in 1,700 times.
	trailShare  = 16
	trailProbes = 7
)

func blockOf(seq int64) int64 { return seq >> blockBits }

// The kinds of marks.
const (
	markAt    = 'p' // the path, or one below it, changed
	markAbove = 't' // a tree at the path was taken away or brought
	markOp    = 'o' // there is a change of the kind
)

// mark returns the number of a mark: FNV-1a of its kind and its text, with the bits mixed.
func mark(kind byte, text string) uint64 {
	h := seed(kind)
	for i := range len(text) {
		h = feed(h, text[i])
	}
	return mix(h)
}

func seed(kind byte) uint64 { return feed(0xcbf29ce484222325, kind) }

func feed(h uint64, b byte) uint64 { return (h ^ uint64(b)) * 0x100000001b3 }

func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// marksAlong appends the marks of a path and of the directories above it, but for the root.
func marksAlong(marks []uint64, kind byte, path string) []uint64 {
	h := seed(kind)
	for i := range len(path) {
		if path[i] == '/' {
			marks = append(marks, mix(h))
		}
		h = feed(h, path[i])
	}
	return append(marks, mix(h))
}

// changeMarks appends the marks that a change leaves.
func changeMarks(marks []uint64, op Op, path, arg string) []uint64 {
	marks = append(marks, mark(markOp, string(op)))
	marks = marksAlong(marks, markAt, path)
	switch op {
	case OpRename:
		marks = marksAlong(marks, markAt, arg)
		marks = append(marks, mark(markAbove, arg), mark(markAbove, path))
	case OpRemoveAll, OpRestore, OpMerge:
		marks = append(marks, mark(markAbove, path))
	}
	return marks
}

// bitAt returns the place of a bit of a mark in a trail of so many bits.
func bitAt(mark uint64, probe, bits uint64) uint64 {
	return (mark>>32 + probe*(mark&0xffffffff|1)) % bits
}

// hasMark reports whether a trail may have a mark.
func hasMark(trail []byte, mark uint64) bool {
	bits := uint64(len(trail)) * 8
	for i := uint64(0); i < trailProbes && bits > 0; i++ {
		at := bitAt(mark, i, bits)
		if trail[at>>3]&(1<<(at&7)) == 0 {
			return false
		}
	}
	return true
}

// Covers reports whether a row of the table trail has all marks of a change.
func Covers(trail []byte, op Op, path, arg string) bool {
	for _, m := range changeMarks(nil, op, path, arg) {
		if !hasMark(trail, m) {
			return false
		}
	}
	return true
}

// readTrails adds the trails of full blocks from their changes, which are all written.
func readTrails(tx *schema.Tx, first, last int64) error {
	var marks []uint64
	for block := first; block <= last; block++ {
		marks = marks[:0]
		rows := tx.Query(`SELECT op, path, arg FROM change WHERE seq BETWEEN ? AND ?`, block<<blockBits, (block+1)<<blockBits-1)
		for rows.Next() {
			marks = changeMarks(marks, Op(rows.Text(0)), rows.Text(1), rows.Text(2))
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if err := insertTrail(tx, block, marks); err != nil {
			return err
		}
	}
	return nil
}

// insertTrail adds the trail of a block that has these marks. It reorders them.
func insertTrail(tx *schema.Tx, block int64, marks []uint64) error {
	slices.Sort(marks)
	marks = slices.Compact(marks)

	trail := make([]byte, (len(marks)*trailShare+7)/8)
	bits := uint64(len(trail)) * 8
	for _, m := range marks {
		for i := range uint64(trailProbes) {
			at := bitAt(m, i, bits)
			trail[at>>3] |= 1 << (at & 7)
		}
	}
	_, err := tx.Exec(`INSERT OR REPLACE INTO trail (block, bits) VALUES (?, ?)`, block, trail)
	return err
}

// treeOps are the ops that concern what is below their paths.
var treeOps = [...]Op{OpRename, OpRemoveAll, OpRestore, OpMerge}

var treeMarks = func() (marks [len(treeOps)]uint64) {
	for i, op := range treeOps {
		marks[i] = mark(markOp, string(op))
	}
	return marks
}()

// A probe asks trails for what a reader is after: one op, and one of some marks. Where it asks for nothing, any trail will do.
type probe struct {
	op    uint64   // 0: any
	at    []uint64 // of paths
	above []uint64 // that only the changes of treeOps leave
}

// probeFor returns the probe for the changes of a kind that concern one of some names; "" and nil are any.
func probeFor(op string, names []string) (p probe) {
	if op != "" {
		p.op = mark(markOp, op)
	}
	if slices.Contains(names, ".") {
		return p
	}
	for _, name := range names {
		p.at = append(p.at, mark(markAt, name))
		p.above = append(p.above, mark(markAbove, "."))
		p.above = marksAlong(p.above, markAbove, name)
	}
	return p
}

// probeForMove returns the probe for the renames that brought a path, or a directory above it.
func probeForMove(path string) probe {
	p := probe{op: mark(markOp, string(OpRename))}
	p.above = marksAlong(p.above, markAbove, path)
	return p
}

func (p *probe) empty() bool { return p.op == 0 && len(p.at) == 0 && len(p.above) == 0 }

// finds reports whether the changes of a trail may have what is asked for, and whether some of them may be of treeOps.
func (p *probe) finds(trail []byte) (found, trees bool) {
	has := func(m uint64) bool { return hasMark(trail, m) }
	if p.op != 0 && !has(p.op) {
		return false, false
	}
	trees = slices.ContainsFunc(treeMarks[:], has)
	found = len(p.at)+len(p.above) == 0 || slices.ContainsFunc(p.at, has) || trees && slices.ContainsFunc(p.above, has)
	return found, trees
}

// A part is a range of changes.
type part struct {
	first, last int64
	trees       bool // some may be of treeOps
}

// trailWindow is how many changes the trails that one query reads stand for at most, and window how many changes it looks at itself.
const trailWindow = 1024 << blockBits

// promising returns the parts of a range of changes that a probe does not rule out, in ascending order.
func (p *probe) promising(tx *schema.Tx, first, last int64) (parts []part, err error) {
	add := func(from, to int64, trees bool) {
		from, to = max(from, first), min(to, last)
		switch n := len(parts); {
		case from > to:
		case n > 0 && parts[n-1].last == from-1 && parts[n-1].trees == trees:
			parts[n-1].last = to
		default:
			parts = append(parts, part{from, to, trees})
		}
	}

	next := first // no trail so far
	rows := tx.Query(`SELECT block, bits FROM trail WHERE block BETWEEN ? AND ? ORDER BY block`, blockOf(first), blockOf(last))
	defer rows.Close()
	var trail []byte
	for rows.Next() {
		from := rows.Int(0) << blockBits
		add(next, from-1, true)
		trail = append(trail[:0], make([]byte, rows.Len(1))...)
		rows.Read(1, trail)
		next = from + 1<<blockBits
		if found, trees := p.finds(trail); found {
			add(from, next-1, trees)
		}
	}
	add(next, last, true)
	return parts, rows.Err()
}

// A look is what the trails of a range have told. A scan that goes on where another stopped does not read them again.
type look struct {
	first, last int64
	parts       []part
	ahead       int64 // how many changes the next look is at
}

// next returns the parts of what is looked at next of a range of changes, in ascending order, and where that begins and ends.
func (k *look) next(tx *schema.Tx, p *probe, first, last int64, back bool) (parts []part, at, end int64, err error) {
	edge := first
	if back {
		edge = last
	}
	if k.ahead == 0 || edge < k.first || edge > k.last {
		k.ahead = min(max(2*k.ahead, 8<<blockBits), trailWindow) // the next hit may be near
		at, end = first, min(last, first+k.ahead-1)
		if back {
			at, end = max(first, last-k.ahead+1), last
		}
		if k.parts, err = p.promising(tx, at, end); err != nil {
			k.ahead = 0
			return nil, 0, 0, err
		}
		k.first, k.last = at, end
	}

	at, end = max(first, k.first), min(last, k.last)
	for _, part := range k.parts {
		if part.first, part.last = max(part.first, at), min(part.last, end); part.first <= part.last {
			parts = append(parts, part)
		}
	}
	return parts, at, end, nil
}

// scan calls fn for the events first to last that the filter lets pass, until it returns false, or until it has looked at so
// many that others should have their turn. It returns the range that is left.
func (s Source) scan(tx *schema.Tx, first, last int64, back bool, f *filter, fn func(Event) bool) (from, to int64, more bool, err error) {
	left := int64(window)
	for more = true; more && left > 0 && first <= last; {
		parts := []part{{first, min(last, first+left-1), true}}
		if back {
			parts[0].first, parts[0].last = max(first, last-left+1), last
		}
		if !f.probe.empty() && last-first >= 1<<blockBits {
			var at, end int64
			if parts, at, end, err = f.look.next(tx, &f.probe, first, last, back); err != nil {
				return first, last, false, err
			}
			if len(parts) == 0 || back && parts[0].first > at {
				parts = append([]part{{at, at - 1, false}}, parts...) // the end of this look
			}
			if !back && parts[len(parts)-1].last < end {
				parts = append(parts, part{end + 1, end, false})
			}
			left -= (end - at + 1) >> blockBits
		}

		for i := range parts {
			part := parts[i]
			if back {
				part = parts[len(parts)-1-i]
			}
			n := part.last - part.first + 1
			if n > left && back {
				part.first = part.last - left + 1
			} else if n > left {
				part.last = part.first + left - 1
			}
			if part.first <= part.last {
				if err := checkThere(tx, part.first); err != nil {
					return first, last, false, err
				}
				if more, err = s.events(tx, part, back, f, fn); err != nil || !more {
					return first, last, more, err
				}
			}
			if back {
				last = part.first - 1
			} else {
				first = part.last + 1
			}
			if left -= n; left <= 0 {
				break
			}
		}
	}
	return first, last, more, nil
}

package journal

import (
	"sort"

	"vfsdb/schema"
)

// A part is a range of changes.
type part struct {
	first, last int64
	trees       bool // some may be of treeOps
}

// trailWindow is how many changes the trails that one query reads stand for at most, and window how many changes it looks at itself.
const trailWindow = 1024 << blockBits

// addPart appends a part of the range first to last to parts that end before it.
func addPart(parts []part, in part, first, last int64) []part {
	in.first, in.last = max(in.first, first), min(in.last, last)
	switch n := len(parts); {
	case in.first > in.last:
	case n > 0 && parts[n-1].last == in.first-1 && parts[n-1].trees == in.trees:
		parts[n-1].last = in.last
	default:
		parts = append(parts, in)
	}
	return parts
}

// promising returns for each probe the parts of a range of changes that it does not rule out, in ascending order.
func promising(tx *schema.Tx, first, last int64, probes ...*probe) ([][]part, error) {
	parts := make([][]part, len(probes))
	unknown := func(from, to int64) {
		for i := range parts {
			parts[i] = addPart(parts[i], part{from, to, true}, first, last)
		}
	}

	next := first // no trail so far
	rows := tx.Query(`SELECT block, bits FROM trail WHERE block BETWEEN ? AND ? ORDER BY block`, blockOf(first), blockOf(last))
	defer rows.Close()
	var trail []byte
	var alone []int64
	for rows.Next() {
		from := rows.Int(0) << blockBits
		unknown(next, from-1)
		trail = append(trail[:0], make([]byte, rows.Len(1))...)
		rows.Read(1, trail)
		next = from + blockSize

		for i, p := range probes {
			all, trees := false, false
			if alone, all, trees = p.finds(trail, alone[:0]); all {
				parts[i] = addPart(parts[i], part{from, next - 1, trees}, first, last)
				continue
			}
			for _, at := range alone {
				parts[i] = addPart(parts[i], part{from + at, from + at, false}, first, last)
			}
		}
	}
	unknown(next, last)
	return parts, rows.Err()
}

// A look is what the trails of a range have told. A scan that goes on where another stopped does not read them again.
type look struct {
	first, last int64
	parts       []part
	ahead       int64 // how many changes the next look is at
	beside      *beside
}

// A beside is a look back by another probe, which is made with the trails that a look back reads.
type beside struct {
	probe probe
	look  look // at all that was looked at
}

// read looks at a range of changes.
func (k *look) read(tx *schema.Tx, p *probe, first, last int64) error {
	k.first, k.last = first, last
	probes := []*probe{p}
	if k.beside != nil {
		probes = append(probes, &k.beside.probe)
	}
	parts, err := promising(tx, first, last, probes...)
	if err != nil {
		k.ahead = 0
		return err
	}
	k.parts = parts[0]
	if k.beside == nil {
		return nil
	}

	all := &k.beside.look
	if all.ahead == 0 {
		all.ahead, all.last = trailWindow, last
	}
	all.first, all.parts = first, append(parts[1], all.parts...)
	return nil
}

// next returns the part that is read next of a range of changes. If the look has no more, it is an empty one at its end. It also returns
// how many trails were read.
func (k *look) next(tx *schema.Tx, p *probe, first, last int64, back bool) (in part, read int64, err error) {
	edge := first
	if back {
		edge = last
	}
	if k.ahead == 0 || edge < k.first || edge > k.last {
		k.ahead = min(max(2*k.ahead, 8<<blockBits), trailWindow) // the next hit may be near
		from, to := first, min(last, first+k.ahead-1)
		if back {
			from, to = max(first, last-k.ahead+1), last
		}
		read = k.ahead >> blockBits
		if err = k.read(tx, p, from, to); err != nil {
			return in, read, err
		}
	}

	at := sort.Search(len(k.parts), func(i int) bool { return k.parts[i].last >= edge })
	if back {
		at = sort.Search(len(k.parts), func(i int) bool { return k.parts[i].first > edge }) - 1
	}
	first, last = max(first, k.first), min(last, k.last)
	if at >= 0 && at < len(k.parts) {
		in = k.parts[at]
		in.first, in.last = max(in.first, first), min(in.last, last)
		if in.first <= in.last {
			return in, read, nil
		}
	}
	if back {
		return part{first: first, last: first - 1}, read, nil
	}
	return part{first: last + 1, last: last}, read, nil
}

// A part costs at least as much as a scan of so many changes.
const leastPart = 32

// scan calls fn for the events first to last that the filter lets pass, until it returns false, or until it has looked at so
// many that others should have their turn. It returns the range that is left.
func (s Source) scan(tx *schema.Tx, first, last int64, back bool, f *filter, fn func(Event) bool) (from, to int64, more bool, err error) {
	left := int64(window)
	for more = true; more && left > 0 && first <= last; {
		in, read := part{first, last, true}, int64(0)
		if !f.probe.empty() && last-first >= blockSize {
			if in, read, err = f.look.next(tx, &f.probe, first, last, back); err != nil {
				return first, last, false, err
			}
		}
		if back {
			in.first = max(in.first, in.last-left+1)
		} else {
			in.last = min(in.last, in.first+left-1)
		}
		if in.first <= in.last {
			if err := checkThere(tx, in.first); err != nil {
				return first, last, false, err
			}
			if more, err = s.events(tx, in, back, f, fn); err != nil || !more {
				return first, last, more, err
			}
		}

		if back {
			last = in.first - 1
		} else {
			first = in.last + 1
		}
		left -= max(in.last-in.first+1, leastPart) + read
	}
	return first, last, more, nil
}

package textdiff

import (
	"bytes"
	"math"
)

// A Hunk is one change: the lines A of the first text gave way to the lines B of the second. One of the ranges may be empty.
type Hunk struct{ A, B Range }

// Compare returns the hunks that turn a into b, in order; between two hunks is at least one common line. Equal texts have
// none. The hunks are those of git diff with its defaults.
//
// They are as few lines as possible where the search was not cut short and no line was pruned; package textdiff says when.
// With n lines that differ, time is in the order of n * sqrt(n) at worst, and memory in the order of n.
func Compare(a, b Text) []Hunk {
	return compare(a, b, true)
}

// compare returns the hunks between a and b, whatever their pieces are. With indent, hunks slide to the bounds of blocks.
func compare(a, b Text, indent bool) []Hunk {
	if bytes.Equal(a.data, b.data) {
		return nil
	}
	p := newPair(a, b)
	defer p.scratch.free()
	changedA, changedB := p.changed()
	runsA, runsB := runs(p.head, changedA), runs(p.head, changedB)
	runsA = slide(a, runsA, runsB, indent)
	runsB = slide(b, runsB, runsA, indent)
	return hunks(runsA, runsB)
}

// changed marks the pieces of both middles that have no partner.
func (p *pair) changed() (changedA, changedB []bool) {
	n, m := p.middles()
	changedA, changedB = p.flags.take(n), p.flags.take(m)
	if n == 0 || m == 0 {
		fill(changedA)
		fill(changedB)
		return changedA, changedB
	}

	p.classify()
	keptA := p.prune(p.ofA, p.inB, p.a.Len(), changedA)
	keptB := p.prune(p.ofB, p.inA, p.b.Len(), changedB)
	s := newSearch(p.scratch, p.pick(p.ofA, keptA), p.pick(p.ofB, keptB), func(x box) {
		set(changedA, keptA[x.a0:x.a1])
		set(changedB, keptB[x.b0:x.b1])
	})
	s.within(box{0, len(keptA), 0, len(keptB)}, false)
	return changedA, changedB
}

// fill marks all places.
func fill(changed []bool) {
	for i := range changed {
		changed[i] = true
	}
}

// pick returns the classes at some places.
func (s *scratch) pick(of []uint32, at []int) []uint32 {
	list := s.classes.take(len(at))
	for i, n := range at {
		list[i] = of[n]
	}
	return list
}

// set marks some places.
func set(changed []bool, at []int) {
	for _, i := range at {
		changed[i] = true
	}
}

// hunks puts the runs of both texts together that stand in the same gap.
func hunks(runsA, runsB []run) []Hunk {
	list := make([]Hunk, 0, max(len(runsA), len(runsB)))
	var a, b run // the last ones
	for len(runsA) > 0 || len(runsB) > 0 {
		gap := math.MaxInt
		for _, next := range [][]run{runsA, runsB} {
			if len(next) > 0 {
				gap = min(gap, next[0].gap)
			}
		}

		runsA = a.next(gap, runsA)
		runsB = b.next(gap, runsB)
		list = append(list, Hunk{Range{a.from, a.to}, Range{b.from, b.to}})
	}
	return list
}

// next makes r the first of runs if that stands in the gap, or an empty run there, and returns the other runs.
func (r *run) next(gap int, runs []run) []run {
	if len(runs) > 0 && runs[0].gap == gap {
		*r = runs[0]
		return runs[1:]
	}
	at := gap + r.to - r.gap
	*r = run{gap, at, at}
	return runs
}

package textdiff

import "bytes"

// A run is changed pieces [from, to) of one text with common ones around. The common pieces are the same in both texts, and so
// are the gaps between them: gap k is right before common piece k.
type run struct{ gap, from, to int }

func (r run) size() int { return r.to - r.from }

// runs returns the runs of a text, in which changed marks pieces behind the first head ones.
func runs(head int, changed []bool) []run {
	var list []run
	lost := 0
	for i := 0; i < len(changed); i++ {
		from := i
		for i < len(changed) && changed[i] {
			i++
		}
		if i > from {
			list = append(list, run{head + from - lost, head + from, head + i})
			lost += i - from
		}
	}
	return list
}

// slide puts each run of text where readers expect it, and returns the runs. If "x" was added beside another "x", either may
// be called the new one: the run can slide. Runs that touch on the way become one. A run that can stand opposite a run of
// the other text goes there, as far down as possible. Otherwise it goes down as far as possible or, with indent, where the
// indentation and the blank lines around suggest the bounds of a block.
func slide(text Text, runs, opposite []run, indent bool) []run {
	s := slider{text: text, above: runs[:0], below: runs, opposite: opposite}
	for len(s.below) > 0 {
		s.run, s.below = s.below[0], s.below[1:]
		s.settle(indent)
		s.above = append(s.above, s.run)
	}
	return s.above
}

// A slider moves one run, between those above it, which are settled, and those below.
type slider struct {
	run
	text         Text
	above, below []run
	opposite     []run // the runs of the other text
	near         int   // the first of these that is not above the run, or one near it
}

// up slides the run over the common piece before it, and swallows a run that stands there.
func (s *slider) up() bool {
	if s.from == 0 || !bytes.Equal(s.text.Line(s.from-1), s.text.Line(s.to-1)) {
		return false
	}

	s.run = run{s.gap - 1, s.from - 1, s.to - 1}
	if n := len(s.above) - 1; n >= 0 && s.above[n].gap == s.gap {
		s.from = s.above[n].from
		s.above = s.above[:n]
	}
	return true
}

// down slides the run over the common piece behind it, and swallows a run that stands there.
func (s *slider) down() bool {
	if s.to == s.text.Len() || !bytes.Equal(s.text.Line(s.from), s.text.Line(s.to)) {
		return false
	}

	s.run = run{s.gap + 1, s.from + 1, s.to + 1}
	if len(s.below) > 0 && s.below[0].gap == s.gap {
		s.to = s.below[0].to
		s.below = s.below[1:]
	}
	return true
}

// faces reports whether the other text has a run in the same gap.
func (s *slider) faces() bool {
	for s.near > 0 && s.opposite[s.near-1].gap >= s.gap {
		s.near--
	}
	for s.near < len(s.opposite) && s.opposite[s.near].gap < s.gap {
		s.near++
	}
	return s.near < len(s.opposite) && s.opposite[s.near].gap == s.gap
}

// settle slides the run to its place.
func (s *slider) settle(indent bool) {
	top, facing := s.sweep()
	place := s.to
	switch {
	case top == s.to:
		return
	case facing >= 0:
		place = facing
	case indent:
		place = s.block(top)
	}

	for s.to > place {
		s.up()
	}
}

// sweep slides the run up and then down as far as it can, again while it swallows others. It returns the ends of the run in
// the highest position, and in the lowest one that faces a run of the other text, or -1.
func (s *slider) sweep() (top, facing int) {
	for size := 0; size != s.size(); {
		size = s.size()
		for s.up() {
		}
		top, facing = s.to, -1
		for moved := true; moved; moved = s.down() {
			if s.faces() {
				facing = s.to
			}
		}
	}
	return top, facing
}

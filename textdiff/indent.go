package textdiff

// Where a run that can slide begins and ends best is a matter of taste, and this is git's: a score that its authors fitted to
// what readers chose by hand. The run is where its two ends score least.
const (
	slides    = 100 // positions that are compared
	tab       = 8
	deepest   = 200 // columns of indentation, more is not counted
	blankRun  = 20  // blank lines in a row, more are not counted
	perIndent = 60  // what a deeper indentation costs beside a penalty

	atStart    = 1
	atEnd      = 21
	perBlank   = -30
	blankAfter = 6
)

// The penalties for the indentation of the line behind an end of the run, compared with the line before: without and with
// blank lines between.
var (
	indented = [2]int{-4, 10}
	opening  = [2]int{24, 17} // indented less, and the next line more: it begins a block
	closing  = [2]int{23, 17} // indented less otherwise
)

// blank is the indentation of a line that has nothing else.
const blank = -1

// A score is what an end of a run costs.
type score struct{ indent, penalty int }

// block returns the end of the run in its best position. The run is as far down as it can be, and top is its end in the
// highest position.
func (s *slider) block(top int) int {
	size := s.size()
	best, place := score{}, -1
	for to := max(top, s.to-size-1, s.to-slides); to <= s.to; to++ {
		end, start := s.text.edge(to), s.text.edge(to-size)
		here := score{end.indent + start.indent, end.penalty + start.penalty}
		if place < 0 || !best.below(here) {
			best, place = here, to
		}
	}
	return place
}

// below reports whether s costs less than o.
func (s score) below(o score) bool {
	depth := 0
	if s.indent != o.indent {
		depth = perIndent
	}
	if s.indent < o.indent {
		depth = -perIndent
	}
	return depth+s.penalty-o.penalty < 0
}

// edge scores a run that begins or ends before line i.
func (t Text) edge(i int) score {
	last := i >= t.Len()
	here := blank
	if !last {
		here = indentation(t.Line(i))
	}
	before, blanksBefore := t.content(i-1, -1)
	after, blanks := t.content(i+1, 1)

	s := score{indent: here}
	if here == blank {
		s.indent = after
		blanks++
	} else {
		blanks = 0
	}
	if before == blank && blanksBefore == 0 {
		s.penalty += atStart
	}
	if last {
		s.penalty += atEnd
	}
	s.penalty += perBlank*(blanksBefore+blanks) + blankAfter*blanks

	spaced := 0
	if blanksBefore+blanks > 0 {
		spaced = 1
	}
	switch {
	case s.indent == blank || before == blank || s.indent == before:
	case s.indent > before:
		s.penalty += indented[spaced]
	case after != blank && after > s.indent:
		s.penalty += opening[spaced]
	default:
		s.penalty += closing[spaced]
	}
	return s
}

// content returns the indentation of the nearest line from i on, in steps of step, that is not blank, and how many blank
// ones are passed. It is blank if there is none, and 0 behind too many.
func (t Text) content(i, step int) (indent, blanks int) {
	for ; 0 <= i && i < t.Len(); i += step {
		if indent := indentation(t.Line(i)); indent != blank {
			return indent, blanks
		}
		if blanks++; blanks == blankRun {
			return 0, blanks
		}
	}
	return blank, blanks
}

// indentation counts the columns before the first character of a line.
func indentation(line []byte) int {
	columns := 0
	for _, c := range line {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += tab - columns%tab
		case '\r', '\n':
		default:
			return columns
		}
		if columns >= deepest {
			return deepest
		}
	}
	return blank
}

package textdiff

import "math/bits"

// The bounds of pruning. They are those of git, so that both prune the same lines.
const (
	mostEqual = 1024 // a piece with that many equals on the other side is always common
	vicinity  = 100  // how far around a common piece its neighbours are judged
	sparse    = 3    // a common piece goes if its neighbours without a match are more than that many times the others
)

// How many equals a piece has on the other side.
const (
	none = iota // it is changed, whatever the search would find
	few
	many // so many that a match says little, as with blank lines and closing braces
)

// prune marks pieces of a middle as changed before the search, and returns the places of the others. It is given their
// classes, how many pieces of the other text have each class, and the length of the whole text.
//
// What goes are the pieces without any match, and those with many matches that stand among such pieces: to match a lone
// brace in the middle of new text costs a long search, and splits a change in two that a reader sees as one.
func (s *scratch) prune(middle []uint32, elsewhere []int, length int, changed []bool) (kept []int) {
	bound := min(roughRoot(length), mostEqual)
	matches := s.counts.take(len(middle))
	for i, class := range middle {
		switch n := elsewhere[class]; {
		case n >= bound && n > 0:
			matches[i] = many
		case n > 0:
			matches[i] = few
		}
	}

	kept = s.ints.take(len(middle))[:0]
	for i, m := range matches {
		if m == none || m == many && lonely(matches, i) {
			changed[i] = true
			continue
		}
		kept = append(kept, i)
	}
	return kept
}

// lonely reports whether piece i, which has many matches, stands in a run of pieces most of which have none.
func lonely(matches []uint8, i int) bool {
	before := matches[max(i-vicinity, 0):i]
	after := matches[i+1 : min(i+1+vicinity, len(matches))]

	var without, with [2]int
	for j := len(before) - 1; j >= 0 && before[j] != few; j-- {
		count(before[j], &without[0], &with[0])
	}
	if without[0] == 0 {
		return false
	}

	for j := 0; j < len(after) && after[j] != few; j++ {
		count(after[j], &without[1], &with[1])
	}
	if without[1] == 0 {
		return false
	}

	// The piece itself counts on both sides.
	return without[0]+without[1] > sparse*(with[0]+with[1]+2)
}

func count(matches uint8, without, with *int) {
	if matches == none {
		*without++
	} else {
		*with++
	}
}

// roughRoot is a power of two near the square root of n: at least that root, and at most twice as much.
func roughRoot(n int) int {
	return 1 << ((bits.Len(uint(n)) + 1) / 2)
}

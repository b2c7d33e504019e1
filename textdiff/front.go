package textdiff

import "math"

// A front is how far the paths from one corner of a box have come with some number of edits. Diagonal d is where the
// numbers of a's piece and of b's piece differ by d; on each, only the path that came furthest is of interest.
type front struct {
	reach     []int // the piece of a at which that path stands; by diagonal, from zero on
	zero      int   // the index of the diagonal 0
	mid       int   // the diagonal of the corner
	low, high int   // the diagonals that paths have reached: every second one of these
	outside   int   // what the diagonals next to them hold
}

// start puts the front on the corner at piece i of a, on diagonal mid.
func (f *front) start(i, mid int) {
	f.mid, f.low, f.high = mid, mid, mid
	f.reach[f.zero+mid] = i
}

// widen lets the front take one more edit. A diagonal beyond the box is left, and then the one before it is the last.
func (f *front) widen(x box) {
	if f.low > x.a0-x.b1 {
		f.low--
		f.reach[f.zero+f.low-1] = f.outside
	} else {
		f.low++
	}
	if f.high < x.a1-x.b0 {
		f.high++
		f.reach[f.zero+f.high+1] = f.outside
	} else {
		f.high--
	}
}

// covers reports whether d is among the diagonals that the front has reached.
func (f *front) covers(d int) bool { return f.low <= d && d <= f.high }

// strayed is the distance of diagonal d from the one on which the front began.
func (f *front) strayed(d int) int { return max(d-f.mid, f.mid-d) }

// newFronts makes the two fronts of texts of n and m pieces: one for the start, one for the end.
func newFronts(s *scratch, n, m int) (fore, back front) {
	reach := s.ints.take(2 * (n + m + 3))
	fore = front{reach: reach[:n+m+3], zero: m + 1, outside: -1}
	back = front{reach: reach[n+m+3:], zero: m + 1, outside: math.MaxInt}
	return fore, back
}

package textdiff

// The bounds of the search. They are those of git, so that both give up at the same place.
const (
	patience = 256 // as many edits are searched before any guess
	snake    = 20  // as many common pieces in a row are a good sign
	promise  = 4   // a path that came so many times further than its edits is taken
)

// A search finds the pieces that two texts have in common. It is the algorithm of Myers in linear space: paths grow from
// both corners of a box, one edit at a time, until two meet; there the box is cut, and both parts are searched in turn.
//
// Two guesses bound it. After 256 edits, a path that has come far for its edits along common pieces is taken without
// waiting for the other side. After about the square root of all pieces, and not less than 256, the furthest path is taken
// as it is. So a cut costs at most that many edits on each diagonal, and leaves at least that many pieces behind.
type search struct {
	a, b       []uint32 // classes
	fore, back front
	limit      int
	drop       func(box) // is called with pieces that are not common
}

// A box is the part of the texts that is searched: the pieces [a0, a1) and [b0, b1).
type box struct{ a0, a1, b0, b1 int }

// A cut divides a box before piece a of the one text and before piece b of the other. The parts for which a path is known
// are searched without guesses: that path is the bound.
type cut struct {
	a, b        int
	first, last bool
}

func newSearch(m *scratch, a, b []uint32, drop func(box)) *search {
	s := &search{a: a, b: b, drop: drop, limit: max(roughRoot(len(a)+len(b)+3), patience)}
	s.fore, s.back = newFronts(m, len(a), len(b))
	return s
}

// within searches the box x. With exact it makes no guess.
func (s *search) within(x box, exact bool) {
	for {
		for x.a0 < x.a1 && x.b0 < x.b1 && s.a[x.a0] == s.b[x.b0] {
			x.a0, x.b0 = x.a0+1, x.b0+1
		}
		for x.a0 < x.a1 && x.b0 < x.b1 && s.a[x.a1-1] == s.b[x.b1-1] {
			x.a1, x.b1 = x.a1-1, x.b1-1
		}
		if x.a0 == x.a1 || x.b0 == x.b1 {
			s.drop(x)
			return
		}

		c := s.cut(x, exact)
		s.within(box{x.a0, c.a, x.b0, c.b}, c.first)
		x, exact = box{c.a, x.a1, c.b, x.b1}, c.last
	}
}

// cut finds where to cut x, which has pieces of both texts.
func (s *search) cut(x box, exact bool) cut {
	s.fore.start(x.a0, x.a0-x.b0)
	s.back.start(x.a1, x.a1-x.b1)
	odd := (s.fore.mid-s.back.mid)&1 != 0 // then paths meet after a step from the start, else after one from the end

	for edits := 1; ; edits++ {
		a, d, met, long := s.advance(x, odd)
		if !met {
			var more bool
			a, d, met, more = s.retreat(x, !odd)
			long = long || more
		}
		if met {
			return cut{a, a - d, true, true}
		}
		if exact {
			continue
		}

		if long && edits > patience {
			if c, ok := s.promising(x, promise*edits); ok {
				return c
			}
		}
		if edits >= s.limit {
			return s.furthest(x)
		}
	}
}

// advance takes the paths from the start one edit further. With meet it looks for a path from the end that has come as
// far; then it returns the piece of a and the diagonal of their meeting. It reports if a path came along a long snake.
func (s *search) advance(x box, meet bool) (a, diagonal int, met, long bool) {
	f := &s.fore
	f.widen(x)

	for d := f.high; d >= f.low; d -= 2 {
		at := f.zero + d
		i := max(f.reach[at-1]+1, f.reach[at+1])
		from := i
		for j := i - d; i < x.a1 && j < x.b1 && s.a[i] == s.b[j]; j++ {
			i++
		}
		f.reach[at] = i

		long = long || i-from > snake
		if meet && s.back.covers(d) && s.back.reach[s.back.zero+d] <= i {
			return i, d, true, long
		}
	}
	return 0, 0, false, long
}

// retreat is advance for the paths from the end.
func (s *search) retreat(x box, meet bool) (a, diagonal int, met, long bool) {
	f := &s.back
	f.widen(x)

	for d := f.high; d >= f.low; d -= 2 {
		at := f.zero + d
		i := min(f.reach[at-1], f.reach[at+1]-1)
		from := i
		for j := i - d; i > x.a0 && j > x.b0 && s.a[i-1] == s.b[j-1]; j-- {
			i--
		}
		f.reach[at] = i

		long = long || from-i > snake
		if meet && s.fore.covers(d) && i <= s.fore.reach[s.fore.zero+d] {
			return i, d, true, long
		}
	}
	return 0, 0, false, long
}

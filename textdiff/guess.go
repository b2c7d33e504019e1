package textdiff

// promising cuts x where a path from one corner stands that has come further than bound, behind a long snake. Straying
// from the diagonal of the corner counts against a path.
func (s *search) promising(x box, bound int) (c cut, ok bool) {
	best := bound
	f := &s.fore
	for d := f.high; d >= f.low; d -= 2 {
		i := f.reach[f.zero+d]
		j := i - d
		way := (i - x.a0) + (j - x.b0) - f.strayed(d)
		inside := x.a0+snake <= i && i < x.a1 && x.b0+snake <= j && j < x.b1
		if way > best && inside && s.common(i-snake, j-snake) {
			best, c, ok = way, cut{i, j, true, false}, true
		}
	}
	if ok {
		return c, true
	}

	f = &s.back
	for d := f.high; d >= f.low; d -= 2 {
		i := f.reach[f.zero+d]
		j := i - d
		way := (x.a1 - i) + (x.b1 - j) - f.strayed(d)
		inside := x.a0 < i && i <= x.a1-snake && x.b0 < j && j <= x.b1-snake
		if way > best && inside && s.common(i, j) {
			best, c, ok = way, cut{i, j, false, true}, true
		}
	}
	return c, ok
}

// common reports whether a snake begins at the pieces i and j.
func (s *search) common(i, j int) bool {
	for k := range snake {
		if s.a[i+k] != s.b[j+k] {
			return false
		}
	}
	return true
}

// furthest cuts x where the path stands that has the shortest way to its opposite corner.
func (s *search) furthest(x box) cut {
	fore := cut{-1, 0, true, false}
	for d := s.fore.high; d >= s.fore.low; d -= 2 {
		i := min(s.fore.reach[s.fore.zero+d], x.a1, x.b1+d)
		if fore.a < 0 || 2*i-d > fore.a+fore.b {
			fore.a, fore.b = i, i-d
		}
	}
	back := cut{-1, 0, false, true}
	for d := s.back.high; d >= s.back.low; d -= 2 {
		i := max(s.back.reach[s.back.zero+d], x.a0, x.b0+d)
		if back.a < 0 || 2*i-d < back.a+back.b {
			back.a, back.b = i, i-d
		}
	}

	if (x.a1-back.a)+(x.b1-back.b) < (fore.a-x.a0)+(fore.b-x.b0) {
		return fore
	}
	return back
}

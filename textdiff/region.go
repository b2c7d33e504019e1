package textdiff

import "bytes"

// merge is Merge for texts of any pieces.
func merge(base, ours, theirs Text) Merged {
	m := Merged{Base: base, Ours: ours, Theirs: theirs}
	changes := m.changes(compare(base, ours, false), compare(base, theirs, false))
	m.between(changes)
	return m
}

// changes returns the regions in which a side differs from the base, unless both do in the same way. Hunks of the two sides
// that overlap or touch are a conflict.
func (m *Merged) changes(ours, theirs []Hunk) []Region {
	var list []Region
	for len(ours) > 0 || len(theirs) > 0 {
		switch {
		case before(ours, theirs):
			h := ours[0]
			list = extend(list, Region{Origin: Ours, Base: h.A, Ours: h.B, Theirs: m.unchanged(h.A, theirs, m.Theirs)})
			ours = ours[1:]
		case before(theirs, ours):
			h := theirs[0]
			list = extend(list, Region{Origin: Theirs, Base: h.A, Ours: m.unchanged(h.A, ours, m.Ours), Theirs: h.B})
			theirs = theirs[1:]
		default:
			o, t := ours[0], theirs[0]
			if !m.same(o, t) {
				list = extend(list, clash(o, t))
			}

			if o.A.To <= t.A.To {
				ours = ours[1:]
			}
			if t.A.To <= o.A.To {
				theirs = theirs[1:]
			}
		}
	}
	return list
}

// before reports whether the first of hunks ends before the first of others begins.
func before(hunks, others []Hunk) bool {
	return len(hunks) > 0 && (len(others) == 0 || hunks[0].A.To < others[0].A.From)
}

// unchanged returns where the lines r of the base are in side. The next hunks of side come behind them.
func (m *Merged) unchanged(r Range, next []Hunk, side Text) Range {
	shift := side.Len() - m.Base.Len()
	if len(next) > 0 {
		shift = next[0].B.From - next[0].A.From
	}
	return Range{r.From + shift, r.To + shift}
}

// same reports whether both hunks put the same lines in the same place.
func (m *Merged) same(ours, theirs Hunk) bool {
	return ours.A == theirs.A && bytes.Equal(m.Ours.Lines(ours.B), m.Theirs.Lines(theirs.B))
}

// clash is the conflict of two hunks: all lines of the base that either changed, and what each side made of all these.
func clash(ours, theirs Hunk) Region {
	base := Range{min(ours.A.From, theirs.A.From), max(ours.A.To, theirs.A.To)}
	return Region{Origin: Conflict, Base: base, Ours: widen(ours, base), Theirs: widen(theirs, base)}
}

// widen returns the lines that a side has for base, which has the lines of hunk h and some common ones around.
func widen(h Hunk, base Range) Range {
	return Range{h.B.From - (h.A.From - base.From), h.B.To + (base.To - h.A.To)}
}

// extend adds r to the regions. If r touches the last one in either side, both become one, a conflict if their origins
// differ.
func extend(list []Region, r Region) []Region {
	if len(list) == 0 {
		return append(list, r)
	}
	last := &list[len(list)-1]
	if r.Ours.From > last.Ours.To && r.Theirs.From > last.Theirs.To {
		return append(list, r)
	}

	if last.Origin != r.Origin {
		last.Origin = Conflict
	}
	last.Base.To, last.Ours.To, last.Theirs.To = r.Base.To, r.Ours.To, r.Theirs.To
	return list
}

// between fills m with the changes, the regions between them, and the text of all.
func (m *Merged) between(changes []Region) {
	at := Region{}
	for _, r := range changes {
		m.agree(at, r)
		m.add(r)
		at = r
	}
	m.agree(at, Region{
		Base:   Range{From: m.Base.Len()},
		Ours:   Range{From: m.Ours.Len()},
		Theirs: Range{From: m.Theirs.Len()},
	})
}

// agree adds the lines between two changes, if there are any. Their text is the same on both sides.
func (m *Merged) agree(last, next Region) {
	r := Region{
		Base:   Range{last.Base.To, next.Base.From},
		Ours:   Range{last.Ours.To, next.Ours.From},
		Theirs: Range{last.Theirs.To, next.Theirs.From},
	}
	if r.Base.Len() > 0 || r.Ours.Len() > 0 {
		m.add(r)
	}
}

// add adds a region and gives it its text.
func (m *Merged) add(r Region) {
	switch r.Origin {
	case Agreed, Ours:
		r.Text = m.Ours.Lines(r.Ours)
	case Theirs:
		r.Text = m.Theirs.Lines(r.Theirs)
	}
	m.Regions = append(m.Regions, r)
}

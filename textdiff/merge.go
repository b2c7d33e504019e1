package textdiff

// An Origin says where the text of a region comes from.
type Origin uint8

// The origins of regions.
const (
	Agreed   Origin = iota // neither side changed the lines, or both in the same way
	Ours                   // only ours changed them
	Theirs                 // only theirs changed them
	Mixed                  // both changed them, in different words: see Merged.Words
	Conflict               // both changed them, and nothing was decided
)

// A Region is a run of lines that have one origin in the merged text, and the lines that stand for it in the three texts.
type Region struct {
	Origin             Origin
	Base, Ours, Theirs Range
	Text               []byte // the merged lines; nil in a conflict
}

// A Merged is the merge of two texts that have a base in common. The regions cover all of the three texts, in order.
type Merged struct {
	Base, Ours, Theirs Text
	Regions            []Region
}

// Merge brings the changes from base to ours and those from base to theirs together, by line. Changes that neither
// overlap nor touch are both taken. The same change on both sides is no conflict; any other two that overlap or touch are
// one. The result is that of git merge-file --diff3, byte for byte: see Markers.
//
// It costs two comparisons: see Compare.
func Merge(base, ours, theirs []byte) Merged {
	return merge(Lines(base), Lines(ours), Lines(theirs))
}

// Clean reports whether m has no conflict.
func (m Merged) Clean() bool { return m.Conflicts() == 0 }

// Conflicts counts the conflicts in m.
func (m Merged) Conflicts() int {
	n := 0
	for _, r := range m.Regions {
		if r.Origin == Conflict {
			n++
		}
	}
	return n
}

// Take returns the merged text, in which each conflict is resolved with the lines of one side: Ours, Theirs, or Agreed for
// those of the base.
func (m Merged) Take(side Origin) []byte {
	var text []byte
	for _, r := range m.Regions {
		switch {
		case r.Origin != Conflict:
			text = append(text, r.Text...)
		case side == Ours:
			text = append(text, m.Ours.Lines(r.Ours)...)
		case side == Theirs:
			text = append(text, m.Theirs.Lines(r.Theirs)...)
		default:
			text = append(text, m.Base.Lines(r.Base)...)
		}
	}
	return text
}

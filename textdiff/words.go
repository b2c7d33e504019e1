package textdiff

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// maxWords bounds the lines of one text that are merged by word, in bytes of all three texts together. A search by word
// costs much in long lines, such as those of programs that were made small.
const maxWords = 4 << 20

// Words returns m with those conflicts resolved in which each text has one line, and the two sides changed different words
// of it that do not touch. The other conflicts stay, and so do those that come after 4 MiB of such lines.
func (m Merged) Words() Merged {
	m.Regions = slices.Clone(m.Regions)
	room := maxWords
	for i, r := range m.Regions {
		if r.Origin != Conflict || r.Base.Len() != 1 || r.Ours.Len() != 1 || r.Theirs.Len() != 1 {
			continue
		}
		base, ours, theirs := m.Base.Lines(r.Base), m.Ours.Lines(r.Ours), m.Theirs.Lines(r.Theirs)
		if room -= len(base) + len(ours) + len(theirs); room < 0 {
			break
		}

		line := merge(words(base), words(ours), words(theirs))
		if line.Clean() {
			m.Regions[i].Origin, m.Regions[i].Text = Mixed, line.Take(Agreed)
		}
	}
	return m
}

// The kinds of characters.
const (
	sign = iota
	letter
	space
)

// words cuts data into words. A word is a run of letters, digits and underscores, or a run of blanks; any other character stands
// alone, and so does each byte that is not UTF-8.
func words(data []byte) Text {
	t := Text{data, []int{0}}
	last := sign
	for at := 0; at < len(data); {
		kind, size := kindOf(data[at:])
		if at > 0 && (kind == sign || kind != last) {
			t.cuts = append(t.cuts, at)
		}
		at, last = at+size, kind
	}
	if len(data) > 0 {
		t.cuts = append(t.cuts, len(data))
	}
	return t
}

// kindOf returns the kind of the first character of data, and its length. Line ends are signs.
func kindOf(data []byte) (kind, size int) {
	c, size := utf8.DecodeRune(data)
	switch {
	case c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c):
		return letter, size
	case c != '\n' && c != '\r' && unicode.IsSpace(c):
		return space, size
	}
	return sign, size
}

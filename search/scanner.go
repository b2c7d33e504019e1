package search

import "vfsdb/node"

// A scanner searches files, one after the other.
type scanner struct {
	*grep
	buf  []byte     // the memory of a scan, kept from file to file
	inos []node.Ino // of the files of a batch that are left

	// The matches of a file. The texts of short lines become one string, of which each match has a part.
	matches []GrepMatch
	texts   []byte
	lengths []int // of the texts, which are those of the last matches
	count   int   // of the matches of the batch
	text    int64 // the memory of the matches, if that is limited
}

const (
	// shortLine is how long a line may be that shares its memory with others.
	shortLine = 1 << 10

	// maxTexts bounds the memory that lines share: a caller that keeps one of them keeps all of it.
	maxTexts = 16 << 10
)

// full reports whether the matches of the batch alone reach MaxText.
func (s *scanner) full() bool { return s.o.MaxText > 0 && s.text >= s.o.MaxText }

// keep adds a match.
func (s *scanner) keep(m GrepMatch, text []byte) {
	if s.o.MaxText > 0 {
		s.text += m.held() + int64(len(text))
	}
	if len(text) > shortLine || len(s.texts)+len(text) > maxTexts {
		s.share()
	}
	if len(text) > shortLine {
		m.Text = string(text)
	} else {
		s.texts = append(s.texts, text...)
		s.lengths = append(s.lengths, len(text))
	}
	s.matches = append(s.matches, m)
}

// share gives the last matches their texts.
func (s *scanner) share() {
	all := string(s.texts)
	for i, n := range s.lengths {
		s.matches[len(s.matches)-len(s.lengths)+i].Text, all = all[:n], all[n:]
	}
	s.texts, s.lengths = s.texts[:0], s.lengths[:0]
}

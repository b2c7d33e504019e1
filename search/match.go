package search

// A GrepMatch is one line that matches.
type GrepMatch struct {
	Path          string   // from the root of the tree, in the form of io/fs
	Line          int      // the number of the line; the first is 1
	Text          string   // the line, without the line break
	Before, After []string // the context that the options ask for, as far as there are such lines
}

// held returns about how much memory a match holds.
func (m *GrepMatch) held() int64 {
	const header = 16 // of a string
	n := header + len(m.Text)
	for _, lines := range [][]string{m.Before, m.After} {
		for _, line := range lines {
			n += header + len(line)
		}
	}
	return int64(n)
}

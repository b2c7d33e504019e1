package search

import (
	"slices"
	"syscall"

	"vfsdb/node"
	"vfsdb/tree"
)

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

// search searches the files of a batch, unless they could not be listed.
func (s *scanner) search(b *batch) {
	defer close(b.done)
	b.outcomes = make([]outcome, 0, len(b.files))
	s.count, s.text = 0, 0

	for left := b.files; len(left) > 0 && b.err == nil; {
		b.err = view(s.files, s.viewer, func(tx *tree.Tx) error {
			s.inos = s.inos[:0]
			for _, f := range left {
				s.inos = append(s.inos, f.ino)
			}
			if err := tx.Prefetch(s.inos); err != nil {
				return err
			}

			for room := int64(viewBytes); len(left) > 0 && room > 0; left = left[1:] {
				size, err := s.file(tx, b, left[0])
				if err != nil {
					return err
				}
				if s.o.Max > 0 && s.count > s.o.Max || s.full() {
					left = nil // nobody will ask for the rest
					return nil
				}
				room -= size
			}
			return nil
		})
	}
}

// file searches one file of a batch, and returns how much was read. A file that was removed since it was listed is
// passed over.
func (s *scanner) file(tx *tree.Tx, b *batch, t candidate) (int64, error) {
	n, err := tx.Node(t.ino)
	if err != nil || n == nil || n.Nlink == 0 {
		return 0, err
	}
	if n.Kind() != node.KindFile {
		return 0, syscall.EINVAL
	}

	b.outcomes = append(b.outcomes, outcome{path: t.path})
	f := &b.outcomes[len(b.outcomes)-1]
	if s.o.MaxFileSize >= 0 && n.Content.Size > s.o.MaxFileSize {
		f.large = true
		return 0, nil
	}

	// An earlier search may have learned enough of the content.
	known := s.sketches.of(n.Content, s.number)
	if known != nil && known.rulesOut(s.matcher.probes) {
		f.scanned = true
		return 0, nil
	}
	if known == nil && s.sketches.isBinary(n.Content) {
		f.binary = true
		return 0, nil
	}

	r := tx.Stream(n.Content)
	defer r.Release()
	c := scan{scanner: s, tx: tx, file: f, reader: r, size: n.Content.Size, line: 1, held: s.buf[:0]}
	settled := !tx.DB().Writable() // an uncommitted content may be undone, and another one take its number
	if s.learn && known == nil && c.size <= maxSketched && settled {
		c.sketch = newSketch(c.size)
	}
	err = c.run()

	// Keep the matches, and a sketch for later searches.
	if f.binary && settled {
		s.sketches.putBinary(n.Content)
	}
	if c.sketch != nil && f.scanned && c.complete() {
		s.sketches.put(n.Content, c.sketch, s.number)
	}
	s.share()
	f.matches = slices.Clone(s.matches)
	s.count += len(f.matches)
	s.buf, s.matches = c.held, s.matches[:0]
	return n.Content.Size, pathErr("grep", t.path, err)
}

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

package vfs

import (
	"slices"
)

// A grepScanner searches files, one after the other.
type grepScanner struct {
	*grep
	buf []byte // what a scan holds, kept from file to file

	// What was found in a file. The texts of short lines become one string, of which each match has a part.
	matches []GrepMatch
	texts   []byte
	lengths []int // of the texts, which are those of the last matches
	count   int   // of the matches of the batch
	text    int64 // what they hold, if that is limited
}

const (
	// shortLine is how long a line may be that shares its memory with others.
	shortLine = 1 << 10

	// maxTexts is how much memory is shared: who keeps one line keeps so much.
	maxTexts = 16 << 10
)

// search searches the files of a batch, unless they could not be listed.
func (s *grepScanner) search(b *batch) {
	defer close(b.done)
	b.found = make([]searched, 0, len(b.files))
	s.count, s.text = 0, 0
	for left := b.files; len(left) > 0 && b.err == nil; {
		b.err = s.viewer.View(s.files, func(tx *Tx) error {
			if err := tx.warm(left); err != nil {
				return err
			}
			for room := int64(grepView); len(left) > 0 && room > 0; left = left[1:] {
				size, err := s.file(tx, b, left[0])
				if err != nil {
					return err
				}
				if s.o.Max > 0 && s.count > s.o.Max || s.full() {
					left = nil // nobody will ask for what comes after
					return nil
				}
				room -= size
			}
			return nil
		})
	}
}

// file searches one file of a batch, and returns how much was read. What has gone since it was listed is passed over.
func (s *grepScanner) file(tx *Tx, b *batch, t named) (int64, error) {
	n, err := tx.inode(t.ino)
	if err != nil || n == nil || n.nlink == 0 {
		return 0, err
	}
	if err := n.checkRegular(); err != nil {
		return 0, err
	}
	b.found = append(b.found, searched{path: t.path})
	f := &b.found[len(b.found)-1]
	past := tx.fsys.past
	if s.o.MaxFileSize >= 0 && n.content.Size > s.o.MaxFileSize {
		f.large = true
		return 0, nil
	}
	known := s.sketches.of(n.content, s.number)
	if known != nil && known.rulesOut(s.matcher.probes) {
		f.scanned = true
		return 0, nil
	}
	if known == nil {
		if _, f.binary = recall(past, past.binary, n.content); f.binary {
			return 0, nil
		}
	}
	r := tx.fsys.store.cache.NewPassing(n.content)
	defer r.Release()
	c := scan{grepScanner: s, tx: tx, file: f, reader: r, size: n.content.Size, line: 1, held: s.buf[:0]}
	if s.learn && known == nil && c.size <= maxSketched && !tx.db.Writable() {
		c.sketch = newSketch(c.size)
	}
	err = c.run()
	if f.binary && !tx.db.Writable() { // what is not committed may never be
		keep(past, past.binary, n.content, true)
	}
	if c.sketch != nil && f.scanned && c.complete() {
		s.sketches.put(n.content, c.sketch, s.number)
	}
	s.share()
	f.matches = slices.Clone(s.matches)
	s.count += len(f.matches)
	s.buf, s.matches = c.held, s.matches[:0]
	return n.content.Size, pathErr("grep", t.path, err)
}

// warm reads the inodes of files at once, if they lie close together, as those of files do that were made together.
// The others are read when they are asked for.
func (tx *Tx) warm(files []named) error {
	var first, last Ino
	n := 0
	for _, f := range files {
		if _, known := tx.knownNode(f.ino); known {
			continue
		}
		if n == 0 {
			first = f.ino
		}
		first, last = min(first, f.ino), max(last, f.ino)
		n++
	}
	if n < 4 || int64(last-first) > 4*int64(n) || len(tx.fsys.levels) > 1 {
		return nil
	}
	return tx.loadInodes(first, last)
}

// full reports whether the matches of the batch alone reach MaxText.
func (s *grepScanner) full() bool { return s.o.MaxText > 0 && s.text >= s.o.MaxText }

// keep adds a match.
func (s *grepScanner) keep(m GrepMatch, text []byte) {
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
func (s *grepScanner) share() {
	all := string(s.texts)
	for i, n := range s.lengths {
		s.matches[len(s.matches)-len(s.lengths)+i].Text, all = all[:n], all[n:]
	}
	s.texts, s.lengths = s.texts[:0], s.lengths[:0]
}

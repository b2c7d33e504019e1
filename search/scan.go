package search

import (
	"bytes"
	"slices"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A scan searches one file. It holds a part of the file at a time, and carries over to the next part the line that is
// not complete yet, with the context before it.
type scan struct {
	*scanner
	tx     *tree.Tx
	file   *outcome
	reader *chunk.Reader
	size   int64   // of the file
	off    int64   // how much of it was read
	sketch *sketch // of the bytes up to off; nil if none is wanted

	held    []byte // the bytes before off, from the start of a line
	end     int    // where in held the last complete line ends
	from    int    // where in held the search stands: at the start of a line
	counted int    // where in held the lines are counted to: not beyond from, and only when a match needs the number
	line    int    // the number of the line there
}

// maxHeld bounds a line with its context.
const maxHeld = 64 << 20

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

func (s *scan) run() error {
	if err := s.read(); err != nil {
		return err
	}
	if vfs.LooksBinary(s.held) {
		s.file.binary = true
		return nil
	}
	s.file.scanned = true

	for {
		if s.lines(); s.enough() || s.complete() {
			return nil
		}
		if s.forget(); len(s.held) > maxHeld {
			s.file.large = true
			return nil
		}
		if err := s.read(); err != nil {
			return err
		}
	}
}

// complete reports whether held reaches to the end of the file.
func (s *scan) complete() bool { return s.off == s.size }

// read reads one more chunk behind the bytes that are held.
func (s *scan) read() error {
	if err := s.files.Err(); err != nil {
		return err
	}
	at, n := len(s.held), int(min(chunk.Size, s.size-s.off))
	s.held = slices.Grow(s.held, n)[:at+n]
	if _, err := s.reader.ReadAt(s.tx.DB(), s.held[at:], s.off); err != nil {
		return err
	}

	if s.off += int64(n); s.complete() {
		s.end = len(s.held)
	} else if i := bytes.LastIndexByte(s.held[at:], '\n'); i >= 0 {
		s.end = at + i + 1
	}
	if s.sketch != nil {
		// A gram may begin before this chunk, in a line that is held.
		s.sketch.add(s.held[max(0, at-gramSize+1):])
	}
	return nil
}

// enough reports whether there are more matches than Max, or as much text as MaxText.
func (s *scan) enough() bool { return s.o.Max > 0 && len(s.matches) > s.o.Max || s.full() }

// forget drops the lines before the context from held.
func (s *scan) forget() {
	cut := s.context()
	if cut == 0 {
		return
	}
	s.count(max(s.counted, cut))
	s.held = s.held[:copy(s.held, s.held[cut:])]
	s.end -= cut
	s.from -= cut
	s.counted -= cut
}

// count counts the lines up to another one.
func (s *scan) count(to int) {
	s.line += bytes.Count(s.held[s.counted:to], []byte{'\n'})
	s.counted = to
}

// lines searches the complete lines of held. It stops before a match whose context has yet to be read.
func (s *scan) lines() {
	for s.from < s.end {
		// Go to the start of the next line that may match.
		i := s.matcher.find(s.held[s.from:s.end])
		if i < 0 {
			s.from = s.end
			return
		}
		s.from += 1 + bytes.LastIndexByte(s.held[s.from:s.from+i], '\n')
		if s.from == s.end {
			return // find saw something behind the last line break
		}

		text, next := cutLine(s.held, s.from)
		if s.matcher.match(text) {
			after, all := s.after(next)
			if !all {
				return
			}
			if s.match(text, after); s.enough() {
				return
			}
		}
		s.from = next
	}
}

// match keeps the line where the search stands as a match.
func (s *scan) match(text []byte, after []string) {
	s.count(s.from)
	m := GrepMatch{Path: s.file.path, Line: s.line, After: after}
	for at := s.context(); at < s.from; {
		var line []byte
		line, at = cutLine(s.held, at)
		m.Before = append(m.Before, string(line))
	}
	s.keep(m, text)
}

// context returns where in held the context before the search begins.
func (s *scan) context() int {
	at := s.from
	for n := 0; n < s.o.Before && at > 0; n++ {
		at = 1 + bytes.LastIndexByte(s.held[:at-1], '\n')
	}
	return at
}

// after returns the lines from at on that are the context after a match; not all if some have yet to be read.
func (s *scan) after(at int) (lines []string, all bool) {
	for len(lines) < s.o.After {
		if at == s.end {
			return lines, s.complete()
		}
		var line []byte
		line, at = cutLine(s.held, at)
		lines = append(lines, string(line))
	}
	return lines, true
}

// cutLine returns the line at from, without its line break, and where the next one begins.
func cutLine(p []byte, from int) (line []byte, next int) {
	line, _, more := bytes.Cut(p[from:], []byte{'\n'})
	next = from + len(line)
	if more {
		next++
	}
	return bytes.TrimSuffix(line, []byte{'\r'}), next
}

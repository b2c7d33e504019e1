package vfs

import (
	"bytes"
	"slices"

	"vfsdb/chunk"
)

// A scan searches one file. It holds a part of the file at a time, and carries over what the next one needs: the line
// that is not complete yet, and the context before it.
type scan struct {
	*grep
	tx     *Tx
	path   string
	reader *chunk.Reader
	size   int64 // of the file
	off    int64 // how much of it was read

	held []byte // the last of what was read, from the start of a line
	end  int    // where in held the last line ends that is there whole
	from int    // where in held the search stands: at the start of a line
	line int    // the number of that line
}

const (
	// scanStep is how much is read at a time. The first time it is one chunk, which may show that the rest is not worth
	// it.
	scanStep = 8 * chunk.Size

	// maxHeld bounds a line with its context.
	maxHeld = 64 << 20
)

func (s *scan) run() error {
	if err := s.read(chunk.Size); err != nil {
		return err
	}
	if LooksBinary(s.held) {
		s.result.SkippedBinary = append(s.result.SkippedBinary, s.path)
		return nil
	}
	s.result.FilesScanned++
	for {
		if err := s.lines(); err != nil || s.complete() {
			return err
		}
		if s.forget(); len(s.held) > maxHeld {
			s.result.SkippedLarge = append(s.result.SkippedLarge, s.path)
			return nil
		}
		if err := s.read(scanStep); err != nil {
			return err
		}
	}
}

// complete reports whether held reaches to the end of the file.
func (s *scan) complete() bool { return s.off == s.size }

// read holds up to n more bytes.
func (s *scan) read(n int) error {
	for n = int(min(int64(n), s.size-s.off)); n > 0; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		at, step := len(s.held), min(n, chunk.Size)
		s.held = slices.Grow(s.held, n)[:at+step]
		if _, err := s.reader.ReadAt(s.tx.db, s.held[at:], s.off); err != nil {
			return err
		}
		if i := bytes.LastIndexByte(s.held[at:], '\n'); i >= 0 {
			s.end = at + i + 1
		}
		s.off += int64(step)
		n -= step
	}
	if s.complete() {
		s.end = len(s.held)
	}
	return nil
}

// forget drops what is no longer needed from held.
func (s *scan) forget() {
	cut := s.context()
	s.held = s.held[:copy(s.held, s.held[cut:])]
	s.end -= cut
	s.from -= cut
}

// lines searches the lines that held has whole. It stops before a match whose context has yet to be read.
func (s *scan) lines() error {
	for s.from < s.end {
		i := s.matcher.find(s.held[s.from:s.end])
		if i < 0 {
			s.skip(s.end)
			return nil
		}
		s.skip(s.from + 1 + bytes.LastIndexByte(s.held[s.from:s.from+i], '\n'))
		if s.from == s.end {
			return nil // find saw something behind the last line break
		}
		text, next := cutLine(s.held, s.from)
		if s.matcher.match(text) {
			after, all := s.after(next)
			if !all {
				return nil
			}
			if err := s.found(text, after); err != nil {
				return err
			}
		}
		s.skip(next)
	}
	return nil
}

// skip moves the search on to another line.
func (s *scan) skip(to int) {
	s.line += bytes.Count(s.held[s.from:to], []byte{'\n'})
	s.from = to
}

func (s *scan) found(text []byte, after []string) error {
	if s.o.Max > 0 && len(s.result.Matches) == s.o.Max {
		s.result.Truncated = true
		return errStop
	}
	m := GrepMatch{Path: s.path, Line: s.line, Text: string(text), After: after}
	for at := s.context(); at < s.from; {
		var line []byte
		line, at = cutLine(s.held, at)
		m.Before = append(m.Before, string(line))
	}
	s.result.Matches = append(s.result.Matches, m)
	return nil
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

package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
)

const (
	// maxLine bounds a line of a stream. A quoted path of the longest kind takes a quarter of it.
	maxLine = 64 << 10

	// maxText bounds a message, and what stands between delimiters.
	maxText = 1 << 20
)

// A StreamError is what is wrong in a stream, and in which line of it. It is EINVAL.
type StreamError struct {
	Line int64
	What string
}

func (e *StreamError) Error() string { return fmt.Sprintf("line %d of the stream: %s", e.Line, e.What) }

// Unwrap returns EINVAL.
func (e *StreamError) Unwrap() error { return syscall.EINVAL }

// A scanner reads a stream by lines, and the data between them by their length.
type scanner struct {
	r    *bufio.Reader
	line int64 // the number of the last line
	text string
	back bool // the last line is to be read again
}

func newScanner(r io.Reader) *scanner { return &scanner{r: bufio.NewReaderSize(r, maxLine)} }

// wrong is the error of the last line.
func (s *scanner) wrong(format string, args ...any) error {
	return &StreamError{s.line, fmt.Sprintf(format, args...)}
}

// next returns the next line that is no comment, without its end. At the end of the stream it is io.EOF.
func (s *scanner) next() (string, error) {
	if s.back {
		s.back = false
		return s.text, nil
	}

	for {
		line, err := s.r.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) == 0:
			return "", io.EOF
		case err == io.EOF: // the last line may have no end
		case errors.Is(err, bufio.ErrBufferFull):
			s.line++
			return "", s.wrong("it has more than %d bytes", maxLine)
		case err != nil:
			return "", err
		}
		s.line++
		if line[0] != '#' {
			s.text = string(bytes.TrimSuffix(line, []byte("\n")))
			return s.text, nil
		}
	}
}

// must is next where the stream may not end.
func (s *scanner) must() (string, error) {
	line, err := s.next()
	if err == io.EOF {
		err = s.ended()
	}
	return line, err
}

// ended is the error of a stream that ends too early.
func (s *scanner) ended() error {
	return fmt.Errorf("%w after line %d: %w", errEnded, s.line, io.ErrUnexpectedEOF)
}

// errEnded is that a stream ends too early.
var errEnded = errors.New("the stream ends")

// unread makes next return the last line again.
func (s *scanner) unread() { s.back = true }

// word returns what follows a word and a space, if the next line begins so. Else that line stays.
func (s *scanner) word(word string) (rest string, there bool, err error) {
	line, err := s.next()
	if err == io.EOF {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if rest, there = strings.CutPrefix(line, word+" "); there {
		return rest, true, nil
	}
	s.unread()
	return "", false, nil
}

// data reads the line that begins data, and calls fn with its length and its bytes. If fn leaves some, they are skipped.
func (s *scanner) data(fn func(size int64, r io.Reader) error) error {
	line, err := s.must()
	if err != nil {
		return err
	}
	length, is := strings.CutPrefix(line, "data ")
	if !is {
		return s.wrong("%.60q is where data has to be", line)
	}
	if end, is := strings.CutPrefix(length, "<<"); is {
		return s.delimited(end, fn)
	}
	size, err := strconv.ParseInt(length, 10, 64)
	if err != nil || size < 0 || length[0] == '+' {
		return s.wrong("%.60q is no length of data", length)
	}

	body := &body{s: s, left: size}
	if err := fn(size, body); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return err
	}

	s.feed()
	return nil
}

// feed passes over the line feed that may follow data.
func (s *scanner) feed() {
	if c, err := s.r.Peek(1); err == nil && c[0] == '\n' {
		_, _ = s.r.Discard(1)
		s.line++
	}
}

// delimited reads data up to a line that is end.
func (s *scanner) delimited(end string, fn func(size int64, r io.Reader) error) error {
	if end == "" {
		return s.wrong("the delimiter of the data is empty")
	}

	var text []byte
	for {
		line, err := s.r.ReadSlice('\n')
		if err == io.EOF {
			return s.ended()
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if err == nil {
			s.line++
		}

		if string(bytes.TrimSuffix(line, []byte("\n"))) == end && (len(text) == 0 || text[len(text)-1] == '\n') {
			s.feed()
			return fn(int64(len(text)), bytes.NewReader(text))
		}
		if text = append(text, line...); len(text) > maxText {
			return s.wrong("more than %d bytes between delimiters", maxText)
		}
	}
}

// message reads data that is text.
func (s *scanner) message() (text string, err error) {
	err = s.data(func(size int64, r io.Reader) error {
		if size > maxText {
			return s.wrong("a message of %d bytes, where at most %d can be kept", size, maxText)
		}
		p := make([]byte, size)
		_, err := io.ReadFull(r, p)
		text = string(p)
		return err
	})
	return text, err
}

// A body is data of a stream whose length is known. It counts the lines.
type body struct {
	s    *scanner
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.s.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.s.line += int64(bytes.Count(p[:n], []byte("\n")))
	if err == io.EOF {
		err = b.s.ended()
	}
	return n, err
}

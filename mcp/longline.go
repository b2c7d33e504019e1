package mcp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxLine bounds one message over stdio, in bytes: the largest arguments of a tool, and room for the rest. The client
// has started the server, so it may send more than over the network.
const maxLine = 160 << 20

// A lineReader passes lines on as they are. A line above max bytes is skipped without being kept, and its request is
// refused. The connection goes on with the next line.
type lineReader struct {
	in     *bufio.Reader
	close  func() error
	max    int
	refuse func(id json.RawMessage) // nil for a message without one

	buf  []byte
	left []byte // of buf, to be read next
	err  error  // after left
}

func (r *lineReader) Close() error { return r.close() }

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.next()
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// keptLine bounds the buffer that is kept for the next line.
const keptLine = 1 << 20

// next reads a line, or skips one that is too long.
func (r *lineReader) next() {
	if cap(r.buf) > keptLine {
		r.buf = nil
	}
	r.buf = r.buf[:0]

	var long *idFinder
	for {
		piece, err := r.in.ReadSlice('\n')
		if long == nil && len(r.buf)+len(piece) > r.max {
			long = &idFinder{}
			long.find(r.buf)
			r.buf = nil
		}

		if long != nil {
			long.find(piece)
		} else {
			r.buf = append(r.buf, piece...)
		}

		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		r.left, r.err = r.buf, err
		if long != nil {
			r.refuse(long.id())
		}
		return
	}
}

// An idFinder finds the id of a message, byte by byte: the value of the key "id" of the outermost object. It keeps only
// the key or the value that it reads.
type idFinder struct {
	depth           int
	inString, quote bool   // quote: the next byte is escaped
	text            []byte // the string or number of the outermost object that is being read
	key             string // the last key of the outermost object
	value           bool   // the value of key follows
	found           []byte
}

// longestID bounds an id, in bytes.
const longestID = 256

func (f *idFinder) find(piece []byte) {
	for _, c := range piece {
		f.step(c)
	}
}

func (f *idFinder) step(c byte) {
	if f.inString {
		f.keep(c)
		switch {
		case f.quote:
			f.quote = false
		case c == '\\':
			f.quote = true
		case c == '"':
			f.inString = false
		}
		return
	}

	switch {
	case c == '"':
		f.inString = true
		f.keep(c)
	case c == '{' || c == '[':
		f.depth++
	case c == '}' || c == ']':
		f.end()
		f.depth--
	case c == ':' && f.depth == 1:
		f.key, f.value = string(f.text), true
		f.text = f.text[:0]
	case c == ',':
		f.end()
	case c > ' ':
		f.keep(c)
	}
}

// keep adds a byte to the key or value of the outermost object.
func (f *idFinder) keep(c byte) {
	if f.depth == 1 && len(f.text) < longestID {
		f.text = append(f.text, c)
	}
}

// end ends a value.
func (f *idFinder) end() {
	if f.depth != 1 {
		return
	}
	if f.value && f.key == `"id"` {
		f.found = append([]byte{}, f.text...)
	}
	f.text, f.value = f.text[:0], false
}

// id returns the id, or nil if the message has none.
func (f *idFinder) id() json.RawMessage {
	if !json.Valid(f.found) || string(f.found) == "null" {
		return nil
	}
	return f.found
}

// A lockedWriter is an output that several writers share. Each message is one Write.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// Close leaves the output open for the other writers.
func (w *lockedWriter) Close() error { return nil }

// tooLong answers a request that was too long to be read.
func (s *Server) tooLong(out io.Writer, id json.RawMessage, max int) {
	s.logger.Warn("a message was too long to be read", "max", max)
	if id == nil {
		return
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"the request is longer than %d bytes, and was not read"}}`+"\n", id, max)
	if _, err := io.WriteString(out, answer); err != nil {
		s.logger.Debug("refuse a message", "error", err)
	}
}

package webdav

import (
	"io"
	"net/http"
	"time"
)

// A peer is the client of a request. Each step of it has a time limit, and the whole has none: a client that neither
// sends nor reads any more must not keep the lock of a path, or a goroutine, for good.
type peer struct {
	conn    *http.ResponseController
	silence time.Duration
}

// mayWrite gives the client time to take what is written next. A connection that knows no deadlines has none.
func (p peer) mayWrite() { _ = p.conn.SetWriteDeadline(time.Now().Add(p.silence)) }

// leave gives net/http time to send the rest of the answer and to read the rest of the request.
func (p peer) leave() {
	p.mayWrite()
	_ = p.conn.SetReadDeadline(time.Now().Add(p.silence))
}

// A stream is the body of a request. It hides other methods, so that io.Copy leaves the reading to its destination.
type stream struct {
	io.ReadCloser
	peer peer
}

// Read reads what the client sends. The deadline ends with the read, since net/http reads on for the end of the connection.
func (s stream) Read(b []byte) (int, error) {
	_ = s.peer.conn.SetReadDeadline(time.Now().Add(s.peer.silence))
	n, err := s.ReadCloser.Read(b)
	_ = s.peer.conn.SetReadDeadline(time.Time{})
	return n, err
}

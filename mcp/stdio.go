package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client over a pair of streams, one message per line, until the client closes its end or ctx is
// done. Nothing else may write to out. If in is an [io.Closer], it is closed at the end, which ends a read from it. A
// message that is longer than the arguments of any tool is refused, and the next one is read.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	reader, ok := in.(io.ReadCloser)
	if !ok {
		reader = io.NopCloser(in)
	}

	defer context.AfterFunc(ctx, s.cancel)() // the session can end only when its calls have ended

	answers := &lockedWriter{out: out}
	lines := &lineReader{in: bufio.NewReader(reader), close: reader.Close, max: s.line}
	lines.refuse = func(id json.RawMessage) { s.tooLong(answers, id, lines.max) }

	err := s.sdk.Run(ctx, &patientTransport{&sdk.IOTransport{Reader: lines, Writer: answers, MaxLineLength: s.line + 1<<10}, s.grace})

	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("serve the client: it sent a line that is no message of the protocol: %w", err)
	}
	if err != nil {
		return fmt.Errorf("serve the client: %w", err)
	}
	return nil
}

// A patientTransport is for clients that close their end after the last request. It waits a few seconds for the
// answers; the SDK would cancel all calls at the end of the input.
type patientTransport struct {
	sdk.Transport
	grace time.Duration
}

func (p *patientTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := p.Transport.Connect(ctx)
	return &patientConn{Connection: conn, grace: p.grace, open: map[jsonrpc.ID]bool{}, closed: make(chan struct{})}, err
}

type patientConn struct {
	sdk.Connection
	grace   time.Duration
	closed  chan struct{}
	closing sync.Once

	mu       sync.Mutex
	open     map[jsonrpc.ID]bool // requests without an answer
	answered chan struct{}       // closed when there are none; nil if nothing waits
}

func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		c.wait(ctx)
		return m, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != "subscriptions/listen" { // it is never answered
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open[r.ID] = true
	}
	return m, nil
}

// wait waits a few seconds until all requests are answered.
func (c *patientConn) wait(ctx context.Context) {
	c.mu.Lock()
	if len(c.open) == 0 {
		c.mu.Unlock()
		return
	}
	c.answered = make(chan struct{})
	answered := c.answered
	c.mu.Unlock()

	enough := time.NewTimer(c.grace)
	defer enough.Stop()
	select {
	case <-answered:
	case <-enough.C:
	case <-c.closed:
	case <-ctx.Done():
	}
}

func (c *patientConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, r.ID)
		if len(c.open) == 0 && c.answered != nil {
			close(c.answered)
			c.answered = nil
		}
	}
	return err
}

func (c *patientConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent"
)

// A session is one client's connection, and what the server knows of it.
type session struct {
	server *Server
	id     string // in the log of calls
	conn   *sdk.ServerSession

	mu    sync.Mutex
	roots *roots // that the client told; nil if it was not asked yet
	boxes map[*workspace]*agent.Toolbox
	subs  map[string]bool // URIs
}

// session returns the state of a connection. It goes when the connection does.
func (s *Server) session(conn *sdk.ServerSession) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.sessions[conn]; c != nil {
		return c
	}
	c := &session{server: s, id: conn.ID(), conn: conn, boxes: map[*workspace]*agent.Toolbox{}, subs: map[string]bool{}}
	if c.id == "" {
		c.id = "mcp-" + rand.Text()[:10]
	}
	if s.ctx.Err() != nil {
		return c // nobody waits any more
	}
	s.sessions[conn] = c
	s.busy.Go(func() {
		_ = conn.Wait() // why it ended is no matter of ours
		s.forget(c)
	})
	return c
}

func (s *Server) forget(c *session) {
	c.mu.Lock()
	subs := c.subs
	c.subs = nil
	c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, c.conn)
	for uri := range subs {
		s.release(uri)
	}
}

// maxActor bounds the name of a client in the log.
const maxActor = 100

// box returns the tools of a workspace for a session: within its roots, and in its name.
func (c *session) box(w *workspace, client *sdk.Implementation) (*agent.Toolbox, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.boxes[w]; b != nil {
		return b, nil
	}
	config := w.config
	config.Actor = cmp.Or(config.Actor, actor(client))
	config.Session = cmp.Or(config.Session, c.id)
	config.Ask = approve
	if config.Logger == nil {
		config.Logger = c.server.clientLog()
	}
	if bounds, narrowed := c.roots.of(w); narrowed {
		policy, err := config.Policy.Within(bounds)
		if err != nil {
			return nil, err
		}
		config.Policy = policy
	}
	b, err := agent.New(w.fsys, &config)
	if err != nil {
		return nil, err
	}
	c.boxes[w] = b
	return b, nil
}

// actor is who calls, in the log: the name that the client gives itself.
func actor(client *sdk.Implementation) string {
	if client == nil || client.Name == "" {
		return "mcp"
	}
	name := client.Name
	if len(name) > maxActor {
		name = name[:maxActor]
		for !utf8.ValidString(name) && len(name) > 0 {
			name = name[:len(name)-1]
		}
	}
	return name
}

// A request is a call of a client in the course of which it may be asked something.
type request struct {
	*session
	ctx       context.Context
	client    *sdk.Implementation
	can       *sdk.ClientCapabilities
	stateless bool // the client speaks a version in which only results may ask

	about   string // the request itself, for the seal
	answers sdk.InputResponseMap
	state   state
	asks    sdk.InputRequestMap // what the result has to ask
}

// newRequest gathers who asks. Whoever got it calls done.
func newRequest[P sdk.Params](s *Server, ctx context.Context, r *sdk.ServerRequest[P]) (q *request, done func()) {
	ctx, done = s.during(ctx)
	q = &request{
		session: s.session(r.Session), client: r.ClientInfo(), can: r.ClientCapabilities(),
		stateless: r.ProtocolVersion() >= firstStateless,
	}
	q.ctx = context.WithValue(ctx, requestKey{}, q)
	return q, done
}

type requestKey struct{}

// requestOf returns the request that a context belongs to, or nil.
func requestOf(ctx context.Context) *request {
	q, _ := ctx.Value(requestKey{}).(*request)
	return q
}

// ask puts a question to the client's result, where the version of the protocol wants it there.
func (q *request) ask(id string, question sdk.InputRequest) {
	if q.asks == nil {
		q.asks = sdk.InputRequestMap{}
	}
	q.asks[id] = question
}

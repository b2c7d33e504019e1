package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"sync"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent/tool"
)

// A session is the connection of one client, with its state.
type session struct {
	server *Server
	id     string // in the log of calls
	conn   *sdk.ServerSession

	mu    sync.Mutex
	roots *roots                       // the roots of the client; nil before it is asked
	moved int                          // the number of changes of the roots
	subs  map[string]bool              // URIs
	boxes map[*workspace]*tool.Toolbox // without roots, on the branch of the session
	away  map[*workspace]func()        // ends the watch of the branch to which it moved
}

// session returns the state of a connection, which ends with the connection. In the log of calls, all requests over
// HTTP without sessions belong to one session, which lasts as long as the server.
func (s *Server) session(conn *sdk.ServerSession, extra *sdk.RequestExtra) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.sessions[conn]; c != nil {
		return c
	}

	c := &session{
		server: s, id: conn.ID(), conn: conn, subs: map[string]bool{},
		boxes: map[*workspace]*tool.Toolbox{}, away: map[*workspace]func(){},
	}

	switch {
	case c.id != "":
	case extra != nil && extra.Header != nil:
		c.id = s.id
	default:
		c.id = newID()
	}

	if s.ctx.Err() != nil {
		return c // the server has ended
	}
	s.sessions[conn] = c
	s.busy.Go(func() {
		_ = conn.Wait() // any reason will do
		s.forget(c)
	})
	return c
}

// newID returns a new name for a session.
func newID() string { return "mcp-" + rand.Text()[:10] }

// forget ends the watches and subscriptions of a session.
func (s *Server) forget(c *session) {
	c.mu.Lock()
	subs, away := c.subs, c.away
	c.subs, c.away = nil, nil
	c.mu.Unlock()

	for _, end := range away {
		end()
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, c.conn)
	for uri := range subs {
		s.release(uri)
	}
	maps.DeleteFunc(s.boxes, func(key boxKey, _ *tool.Toolbox) bool { return key.of == c })
}

// maxActor bounds the name of a client in the log.
const maxActor = 100

// A boxKey identifies the tools of a request.
type boxKey struct {
	workspace      *workspace
	of             *session // nil for requests that belong to no session
	actor, session string
	limits         string
}

// maxBoxes bounds the toolboxes that are kept.
const maxBoxes = 64

// box returns the tools of a workspace for a request. They are limited to the roots of the client and log its name.
func (q *request) box(w *workspace) (*tool.Toolbox, error) {
	config := w.config
	config.Actor = cmp.Or(config.Actor, actor(q.client))
	config.Session = cmp.Or(config.Session, q.id)

	paths, limited := q.limits.of(w)
	key := boxKey{workspace: w, of: q.session, actor: config.Actor, session: config.Session}
	if limited {
		key.limits = fmt.Sprintf("%q", paths)
	}

	s := q.server
	standing, err := q.standing(w)
	if err != nil {
		return nil, err
	}
	if !q.lasts() {
		key.of, config.Fixed = nil, true
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.boxes[key]; b != nil {
		return b, nil
	}

	// The tools of the session get a policy for its roots, and a way to ask its client.
	config.Ask = approve
	if config.Logger == nil {
		config.Logger = s.clientLog()
	}

	if limited {
		refused, err := config.Policy.Within(paths)
		if err != nil {
			return nil, err
		}
		config.Policy = refused
	}

	b, err := standing.With(&config)
	if err != nil {
		return nil, err
	}
	if len(s.boxes) >= maxBoxes {
		clear(s.boxes)
	}
	s.boxes[key] = b
	return b, nil
}

// actor returns the name of a client in the log, as the client gives it.
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

// A request is a request of a client. The server may ask the client questions before it answers.
type request struct {
	*session
	ctx       context.Context
	client    *sdk.Implementation
	limits    *roots // of the client; nil if it has not named them
	moves     int    // the value of session.moved when the request came
	can       *sdk.ClientCapabilities
	stateless bool // the version of the protocol lets only results ask

	about   string // identifies the request for the seal
	answers sdk.InputResponseMap
	state   state
	asks    sdk.InputRequestMap // the questions of the result
}

// newRequest finds the session and the client of a request. The caller calls done.
func newRequest[P sdk.Params](s *Server, ctx context.Context, r *sdk.ServerRequest[P]) (q *request, done func()) {
	ctx, done = s.during(ctx)
	c := s.session(r.Session, r.Extra)
	limits, moves := c.knownRoots()
	q = &request{
		session: c, limits: limits, moves: moves, client: r.ClientInfo(), can: r.ClientCapabilities(),
		stateless: r.ProtocolVersion() >= firstStateless,
	}
	q.ctx = context.WithValue(ctx, requestKey{}, q)
	return q, done
}

type requestKey struct{}

// requestOf returns the request of a context, or nil.
func requestOf(ctx context.Context) *request {
	q, _ := ctx.Value(requestKey{}).(*request)
	return q
}

// ask adds a question to the result, for a version of the protocol in which results ask.
func (q *request) ask(id string, question sdk.InputRequest) {
	if q.asks == nil {
		q.asks = sdk.InputRequestMap{}
	}
	q.asks[id] = question
}

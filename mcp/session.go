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

	"vfsdb/agent"
)

// A session is one client's connection, and what the server knows of it.
type session struct {
	server *Server
	id     string // in the log of calls
	conn   *sdk.ServerSession

	mu    sync.Mutex
	roots *roots                        // that the client told; nil if it was not asked yet
	moved int                           // how often the client said that they changed
	subs  map[string]bool               // URIs
	boxes map[*workspace]*agent.Toolbox // without roots: they know where the session stands
	away  map[*workspace]func()         // ends what follows the branch that it moved to
}

// session returns the state of a connection. It goes when the connection does. Requests over HTTP without sessions are
// in one that lasts as long as the server, as far as the log tells.
func (s *Server) session(conn *sdk.ServerSession, extra *sdk.RequestExtra) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.sessions[conn]; c != nil {
		return c
	}
	c := &session{
		server: s, id: conn.ID(), conn: conn, subs: map[string]bool{},
		boxes: map[*workspace]*agent.Toolbox{}, away: map[*workspace]func(){},
	}
	switch {
	case c.id != "":
	case extra != nil && extra.Header != nil:
		c.id = s.id
	default:
		c.id = newID()
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

// newID makes a name for a session that has none.
func newID() string { return "mcp-" + rand.Text()[:10] }

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
	maps.DeleteFunc(s.boxes, func(key boxKey, _ *agent.Toolbox) bool { return key.of == c })
}

// maxActor bounds the name of a client in the log.
const maxActor = 100

// A boxKey is what the tools of a session depend on.
type boxKey struct {
	workspace      *workspace
	of             *session // nil if it is of requests that belong to no session
	actor, session string
	limits         string
}

// maxBoxes is how many sets of tools are kept.
const maxBoxes = 64

// box returns the tools of a workspace for a request: within the roots of its client, and in its name.
func (q *request) box(w *workspace) (*agent.Toolbox, error) {
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
	config.Ask = approve
	if config.Logger == nil {
		config.Logger = s.clientLog()
	}
	if limited {
		policy, err := config.Policy.Within(paths)
		if err != nil {
			return nil, err
		}
		config.Policy = policy
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
	limits    *roots // of the client, as they were when it was asked
	moves     int    // session.moved when the request came
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
	c := s.session(r.Session, r.Extra)
	limits, moves := c.told()
	q = &request{
		session: c, limits: limits, moves: moves, client: r.ClientInfo(), can: r.ClientCapabilities(),
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

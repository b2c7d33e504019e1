package mcp

import (
	"context"
	"errors"
	"io/fs"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent"
	"vfsdb/agent/tool"
)

// A tool may fork a branch and move its session there. Calls and the list of files are then of that branch, whose files
// have URIs of their own. URIs of the branches that the session left stay valid for as long as the session lasts. Other
// sessions stay where they are.

// A branch is a branch of a workspace, as one client may use it.
type branch struct {
	files
	box *tool.Toolbox // on that branch, within the roots of the client
}

// lasts reports whether the server knows a client again in its next request. Over HTTP without sessions it does not.
func (c *session) lasts() bool { return c.id != c.server.id }

// standing returns the tools of a workspace on the branch of the session. They know no roots.
func (c *session) standing(w *workspace) (*tool.Toolbox, error) {
	if !c.lasts() {
		return w.box, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.boxes[w]; b != nil {
		return b, nil
	}
	b, err := agent.New(w.fsys, &w.config)
	if err != nil {
		return nil, err
	}
	c.boxes[w] = b
	return b, nil
}

// here returns the branch of a workspace on which the session stands.
func (q *request) here(w *workspace) (branch, error) {
	box, err := q.box(w)
	if err != nil {
		return branch{}, err
	}
	return branch{q.server.filesOn(w, box.FS().Head()), box}, nil
}

// filesOn returns the files of a branch of a workspace.
func (s *Server) filesOn(w *workspace, name string) files {
	return s.filesOf(tool.Ref{DB: w.ref.DB, Branch: name})
}

// resolve finds the branch and the path of a URI, among the branches of a workspace that the session knows.
func (c *session) resolve(w *workspace, uri string) (name, path string, ok bool) {
	known := []string{w.ref.Branch}
	if b, err := c.standing(w); err == nil {
		known = append([]string{b.FS().Head()}, b.Branches()...)
	}
	for _, name := range known {
		if path, ok := c.server.filesOn(w, name).path(uri); ok {
			return name, path, true
		}
	}
	return "", "", false
}

// locate finds the branch and the path of a URI, for a client whose roots are known.
func (q *request) locate(uri string) (branch, string, error) {
	for _, w := range q.server.workspaces {
		name, path, ok := q.resolve(w, uri)
		if !ok {
			continue
		}
		at, err := q.here(w)
		if err != nil || at.box.FS().Head() == name {
			return at, path, err
		}
		at.files = q.server.filesOn(w, name)
		at.box, err = at.box.On(q.ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		return at, path, err
	}
	return branch{}, "", sdk.ResourceNotFoundError(uri)
}

// askedKey is the key of a context for the URI of a request, see askedURI.
type askedKey struct{}

// rehome changes a request for a file of another branch into one for the same path of the first branch of the
// workspace, because the SDK has a template for that branch only. The context keeps the URI of the request.
func (s *Server) rehome(ctx context.Context, r *sdk.ReadResourceRequest) (context.Context, *sdk.ReadResourceRequest) {
	c := s.session(r.Session, r.Extra)
	for _, w := range s.workspaces {
		if _, ok := w.path(r.Params.URI); ok {
			return ctx, r
		}
		if _, path, ok := c.resolve(w, r.Params.URI); ok {
			ctx = context.WithValue(ctx, askedKey{}, r.Params.URI)
			request, params := *r, *r.Params
			params.URI = w.uri(path)
			request.Params = &params
			return ctx, &request
		}
	}
	return ctx, r
}

// askedURI returns the URI of a request, as the client sent it.
func askedURI(ctx context.Context, r *sdk.ReadResourceRequest) string {
	if uri, ok := ctx.Value(askedKey{}).(string); ok {
		return uri
	}
	return r.Params.URI
}

// moveTo watches the branch to which a session has moved, instead of the one to which it moved before. Clients are
// notified that the list of files has changed.
func (q *request) moveTo(w *workspace, box *tool.Toolbox) {
	s, tree := q.server, box.FS()
	defer s.notifier.relisted()

	since, err := tree.Seq(q.ctx)
	if err != nil {
		s.logger.Warn("watch a branch", "branch", tree.Head(), "error", err)
		return
	}
	at, err := box.On(q.ctx, tree.Head())
	if err != nil {
		s.logger.Warn("watch a branch", "branch", tree.Head(), "error", err)
		return
	}

	q.mu.Lock()
	defer q.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || q.away == nil { // the server or the session has ended
		return
	}
	if end := q.away[w]; end != nil {
		end()
	}

	ctx, end := context.WithCancel(s.ctx)
	q.away[w] = end
	s.busy.Go(func() { s.watch(ctx, branch{s.filesOn(w, tree.Head()), at}, since) })
}

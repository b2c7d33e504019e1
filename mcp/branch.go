package mcp

import (
	"context"
	"errors"
	"io/fs"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent"
)

// A tool may move a session to a branch that it forked. Its calls and its list of files are then of that branch, whose
// files have URIs of their own. The URIs of the branches that it left are good for as long as the session lasts. Other
// sessions stay where they are.

// A branch is one that a client may name files of.
type branch struct {
	files
	box *agent.Toolbox // on that branch, within the roots of the client
}

// lasts reports whether what a client does is known in its next request: over HTTP without sessions it is not.
func (c *session) lasts() bool { return c.id != c.server.id }

// standing returns the tools of a workspace without anybody's roots, where the session stands.
func (c *session) standing(w *workspace) (*agent.Toolbox, error) {
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

// here is the branch of a workspace that a client stands on.
func (q *request) here(w *workspace) (branch, error) {
	box, err := q.box(w)
	if err != nil {
		return branch{}, err
	}
	return branch{q.server.filesOn(w, box.FS().Head()), box}, nil
}

// filesOn are those of a branch of a workspace.
func (s *Server) filesOn(w *workspace, name string) files {
	return s.filesOf(agent.Ref{DB: w.ref.DB, Branch: name})
}

// meant finds the branch of a workspace, of those that the session knows, and the path that a URI means.
func (c *session) meant(w *workspace, uri string) (name, path string, ok bool) {
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

// locate finds the branch and the path that a URI means, for a client whose roots are known.
func (q *request) locate(uri string) (branch, string, error) {
	for _, w := range q.server.workspaces {
		name, path, ok := q.meant(w, uri)
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

// askedKey is the key of a context for the URI that a client asked for.
type askedKey struct{}

// homely makes a request for a file of a branch that the session moved to one for the file of that path where the
// workspace begins, which the SDK has a template for. The context keeps what was asked.
func (s *Server) homely(ctx context.Context, r *sdk.ReadResourceRequest) (context.Context, *sdk.ReadResourceRequest) {
	c := s.session(r.Session, r.Extra)
	for _, w := range s.workspaces {
		if _, ok := w.path(r.Params.URI); ok {
			return ctx, r
		}
		if _, path, ok := c.meant(w, r.Params.URI); ok {
			ctx = context.WithValue(ctx, askedKey{}, r.Params.URI)
			request, params := *r, *r.Params
			params.URI = w.uri(path)
			request.Params = &params
			return ctx, &request
		}
	}
	return ctx, r
}

// asked is the URI that a client asked for.
func asked(ctx context.Context, r *sdk.ReadResourceRequest) string {
	if uri, ok := ctx.Value(askedKey{}).(string); ok {
		return uri
	}
	return r.Params.URI
}

// relocated follows the branch that a session has moved to, in place of the one it moved to before, and has clients hear
// that the list of files is another one.
func (q *request) relocated(w *workspace, box *agent.Toolbox) {
	s, tree := q.server, box.FS()
	defer s.teller.relisted()
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
	if s.ctx.Err() != nil || q.away == nil { // nobody waits any more
		return
	}
	if end := q.away[w]; end != nil {
		end()
	}
	ctx, end := context.WithCancel(s.ctx)
	q.away[w] = end
	s.busy.Go(func() { s.watch(ctx, branch{s.filesOn(w, tree.Head()), at}, since) })
}

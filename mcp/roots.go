//lint:file-ignore SA1019 roots and logging are deprecated, and what clients of the versions before 2026-07-28 use

package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Roots are the directories in which a client works. Roots of the host mean nothing here. A root in a workspace,
// vfs://…, limits the client to the files below it, as in the reference filesystem server; several roots add up. They
// are paths, so they hold on each branch to which the client moves.

// roots are the roots of a client, as paths by workspace.
type roots struct {
	any   bool // a root is in a workspace
	paths map[*workspace][]string
}

// of returns the paths that limit a client in a workspace. If none of its roots is in any workspace, limited is false.
func (r *roots) of(w *workspace) (paths []string, limited bool) {
	if r == nil || !r.any {
		return nil, false
	}
	return r.paths[w], true
}

// rootsID is the id of the question for the roots in a result.
const rootsID = "roots"

// rootsWait bounds how long a client may take to name its roots.
const rootsWait = 10 * time.Second

// bounded asks the client for its roots, once per session. It returns false if the result has to ask for them.
func (q *request) bounded() (known bool, err error) {
	if q.limits != nil {
		return true, nil
	}
	if q.can == nil || q.can.RootsV2 == nil {
		q.settle(nil)
		return true, nil
	}

	if q.stateless {
		list, ok := q.answers[rootsID].(*sdk.ListRootsResult)
		switch {
		case ok:
			q.state.Bounded, q.state.Roots = true, urisOf(list.Roots)
		case !q.state.Bounded:
			q.ask(rootsID, &sdk.ListRootsParams{})
			return false, nil
		}
		q.settle(q.state.Roots)
		return true, nil
	}

	ctx, cancel := context.WithTimeout(q.ctx, rootsWait)
	defer cancel()

	list, err := q.conn.ListRoots(ctx, nil)
	var refused *jsonrpc.Error
	switch {
	case errors.As(err, &refused): // the client claims to have roots, and does not answer
		q.settle(nil)
	case err != nil:
		return false, fmt.Errorf("ask the client for its roots: %w", err)
	default:
		q.settle(urisOf(list.Roots))
	}
	return true, nil
}

// urisOf returns the URIs of roots.
func urisOf(list []*sdk.Root) []string {
	uris := make([]string, len(list))
	for i, root := range list {
		uris[i] = root.URI
	}
	return uris
}

// settle records the roots that the client has named.
func (q *request) settle(uris []string) {
	r := &roots{paths: map[*workspace][]string{}}
	for _, uri := range uris {
		for _, w := range q.server.workspaces {
			if _, path, ok := q.resolve(w, uri); ok {
				r.any = true
				r.paths[w] = append(r.paths[w], path)
			}
		}
	}

	q.limits = r
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.moved == q.moves { // else they have changed since the request came
		q.roots = r
	}
}

// knownRoots returns the roots that the client has named, or nil, and the number of their changes.
func (c *session) knownRoots() (*roots, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.roots, c.moved
}

// rootsChanged forgets the roots of a client; the next request asks for them again.
func (s *Server) rootsChanged(_ context.Context, r *sdk.RootsListChangedRequest) {
	c := s.session(r.Session, r.Extra)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.roots = nil
	c.moved++
}

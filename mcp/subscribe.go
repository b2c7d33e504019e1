package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSubscriptions bounds the subscriptions of a session.
const maxSubscriptions = 1000

// subscribe begins to notify a session of changes of a file, or of the files below a directory.
func (s *Server) subscribe(ctx context.Context, r *sdk.SubscribeRequest) error {
	q, done := newRequest(s, ctx, r)
	defer done()
	uri := r.Params.URI

	if !q.stateless {
		if _, err := q.bounded(); err != nil {
			return err
		}
	}

	at, path, err := q.locate(uri)
	if err != nil {
		return err
	}
	if at.uri(path) != uri || !at.box.Shows(path) {
		return sdk.ResourceNotFoundError(uri)
	}

	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.subs == nil || q.subs[uri]:
		return nil
	case len(q.subs) >= maxSubscriptions:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "too many subscriptions; subscribe to a directory instead"}
	}

	q.subs[uri] = true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched[uri]++
	return nil
}

// unsubscribe ends a subscription.
func (s *Server) unsubscribe(_ context.Context, r *sdk.UnsubscribeRequest) error {
	c := s.session(r.Session, r.Extra)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.subs[r.Params.URI] {
		delete(c.subs, r.Params.URI)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.release(r.Params.URI)
	}
	return nil
}

// release removes one subscription to a URI. The caller holds s.mu.
func (s *Server) release(uri string) {
	if s.watched[uri]--; s.watched[uri] <= 0 {
		delete(s.watched, uri)
	}
}

package mcp

import (
	"context"
	"log/slog"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent/tool"
)

// SDK is the server below, for tests that connect to it in memory or add fixtures.
func SDK(s *Server) *sdk.Server { return s.sdk }

// Offer adds a tool that takes the way of ours to the client.
func Offer(s *Server, t *sdk.Tool, run func(ctx context.Context) *tool.Result) {
	s.offer(s.workspaces[0], t, func(q *request, _ tool.Call) (*tool.Result, error) { return run(q.ctx), nil })
}

// NewAt is New with another beginning of URIs.
func NewAt(ctx context.Context, base string, w Workspace, o *Options) (*Server, error) {
	return newServer(ctx, []Workspace{w}, o, func(tool.Ref) string { return base })
}

// SetBeat sets the time between two notifications of a long call.
func SetBeat(s *Server, d time.Duration) { s.beat = d }

// Approve asks the person at the client.
func Approve(ctx context.Context, use tool.Approval) (bool, error) { return approve(ctx, use) }

// ClientLog is the log that clients get.
func ClientLog(s *Server) *slog.Logger { return s.clientLog() }

// SetGather sets the times for which changes are gathered.
func SetGather(s *Server, updates, lists time.Duration) {
	s.notifier.mu.Lock()
	defer s.notifier.mu.Unlock()
	s.notifier.updates, s.notifier.lists = updates, lists
}

// Watched returns the number of URIs with a subscription.
func Watched(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watched)
}

// SetLine sets the bound of a message over stdio.
func SetLine(s *Server, bytes int) { s.line = bytes }

// SetGrace sets the time that the end waits for answers to go out.
func SetGrace(s *Server, d time.Duration) { s.grace = d }

//lint:file-ignore SA1019 roots and logging are deprecated, and what clients of the versions before 2026-07-28 use

package mcp

import (
	"context"
	"log/slog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// clientLog returns a logger whose lines go to the operator, and to the client whose request they are about, if it
// wants lines of that level.
func (s *Server) clientLog() *slog.Logger {
	return slog.New(slog.NewMultiHandler(&clientHandler{}, s.logger.Handler()))
}

// A clientHandler sends each line to the session of its context.
type clientHandler struct {
	with []func(slog.Handler) slog.Handler // the attributes and groups of the logger, in order
}

func (h *clientHandler) Enabled(ctx context.Context, _ slog.Level) bool { return requestOf(ctx) != nil }

func (h *clientHandler) Handle(ctx context.Context, r slog.Record) error {
	q := requestOf(ctx)
	if q == nil {
		return nil
	}
	var to slog.Handler = sdk.NewLoggingHandler(q.conn, &sdk.LoggingHandlerOptions{LoggerName: "vfsdb"})
	for _, with := range h.with {
		to = with(to)
	}
	if !to.Enabled(ctx, r.Level) {
		return nil
	}
	return to.Handle(ctx, r)
}

func (h *clientHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.and(func(to slog.Handler) slog.Handler { return to.WithAttrs(attrs) })
}

func (h *clientHandler) WithGroup(name string) slog.Handler {
	return h.and(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
}

// and returns a handler that applies one more attribute or group.
func (h *clientHandler) and(with func(slog.Handler) slog.Handler) slog.Handler {
	return &clientHandler{append(h.with[:len(h.with):len(h.with)], with)}
}

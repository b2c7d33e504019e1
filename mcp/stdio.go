package mcp

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client over a pair of streams, a message a line, until the client closes its end or ctx is done.
// Nothing else may write to out. If in is an [io.Closer] it is closed at the end, which is what ends a read from it.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	reader, ok := in.(io.ReadCloser)
	if !ok {
		reader = io.NopCloser(in)
	}
	defer context.AfterFunc(ctx, s.cancel)() // calls that run end then, so that the session can
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: reader, Writer: keepOpen{out}, MaxLineLength: maxMessage})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return err
}

// keepOpen is a writer that others still need.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

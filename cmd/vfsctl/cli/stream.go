package cli

import (
	"context"
	"io"
	"os"
)

// HostInput returns the standard input of a program of the host for one of commands. Where commands read from a terminal by
// another way, that is the terminal itself.
func HostInput(r io.Reader) io.Reader {
	if t, ok := r.(interface{ Host() *os.File }); ok {
		return t.Host()
	}
	return r
}

// Interruptible makes a stream end with the context. A read of a terminal or a pipe would wait for ever.
func Interruptible(ctx context.Context, r io.Reader) io.ReadCloser {
	pr, pw := io.Pipe()
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{pw}, struct{ io.Reader }{r}, make([]byte, 256<<10))
		pw.CloseWithError(err)
	}()
	stop := context.AfterFunc(ctx, func() { pr.CloseWithError(ctx.Err()) })
	return &interruptibleReader{pr, ctx, stop}
}

type interruptibleReader struct {
	*io.PipeReader
	ctx  context.Context
	stop func() bool
}

func (r *interruptibleReader) Read(p []byte) (int, error) {
	n, err := r.PipeReader.Read(p)
	if err != nil && r.ctx.Err() != nil {
		err = r.ctx.Err()
	}
	return n, err
}

func (r *interruptibleReader) Close() error {
	r.stop()
	return r.PipeReader.Close()
}

package term

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// An interrupt may come before the work that is shown has begun.
func TestProgressInterrupted(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/tty")
	require.NoError(t, err)
	defer f.Close()
	o := &Output{TTY: true, file: f}

	ctx, interrupt := context.WithCancel(t.Context())
	p := o.Progress(ctx, "put", 0)
	require.NotNil(t, p)
	interrupt()
	p.At(1, "")
	p.End()
	require.Nil(t, o.Progress(ctx, "put", 0))
}

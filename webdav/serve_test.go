package webdav_test

import (
	"context"
	"io"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/webdav"
)

func TestServe(t *testing.T) {
	_, err := webdav.Listen(t.Context(), "0.0.0.0:0")
	require.ErrorIs(t, err, syscall.EACCES)
	l, err := webdav.Listen(t.Context(), ":0")
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	fsys := vfstest.New(t, "a")
	go func() { served <- webdav.Serve(ctx, l, fsys, nil) }()
	answer, err := http.Get("http://" + l.Addr().String() + "/a")
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "a", string(text))
	require.NoError(t, answer.Body.Close())
	cancel()
	require.NoError(t, <-served)
	http.DefaultClient.CloseIdleConnections()
}

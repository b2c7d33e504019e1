package loopback_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/loopback"
)

func TestAllows(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost:80": true, "127.0.0.1": true, "127.1.2.3:1": true, "[::1]:80": true, "::1": true,
		"": false, "example.org": false, "localhost.example.org": false, "127.0.0.1.example.org:80": false, "10.0.0.1": false,
		"0.0.0.0": false, "[::]:80": false, "files.example.org:80": true, "FILES.example.org": true,
	} {
		require.Equal(t, want, loopback.Allows(host, []string{"files.example.org"}), "%q", host)
	}
}

func TestListen(t *testing.T) {
	for addr, want := range map[string]error{"8080": syscall.EINVAL, "": syscall.EINVAL, "0.0.0.0:0": syscall.EACCES, "example.org:0": syscall.EACCES} {
		_, err := loopback.Listen(t.Context(), addr, false)
		require.ErrorIs(t, err, want, "%q", addr)
	}
	for _, addr := range []string{":0", "localhost:0", "127.0.0.1:0"} {
		l, err := loopback.Listen(t.Context(), addr, false)
		require.NoError(t, err)
		require.True(t, loopback.Allows(l.Addr().String(), nil))
		require.NoError(t, l.Close())
	}
}

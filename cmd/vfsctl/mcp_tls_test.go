package main

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Over HTTPS a request with the token is answered. A token or a key that others can read, and names of other hosts
// without HTTPS, are warned of.
func TestMCPOverTLS(t *testing.T) {
	dir, vfsctl := t.TempDir(), binary(t)
	like := httptest.NewTLSServer(nil) // for its certificate, and a client that trusts it
	defer like.Close()
	key, err := x509.MarshalPKCS8PrivateKey(like.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{
		"cert": {Type: "CERTIFICATE", Bytes: like.TLS.Certificates[0].Certificate[0]}, "key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	const token = "a-token-of-the-test"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "open-token"), []byte(token+"\n"), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(dir, "open-token"), 0o644)) // whatever the umask

	for _, tt := range []struct {
		flags, scheme string
		warnings      []string
	}{
		{"--token-file token --tls-cert cert --tls-key key --allow-host files.example.org", "https", nil},
		{"--token-file open-token --allow-host files.example.org", "http", []string{"others on this machine can use open-token, whose mode is 0644", "--allow-host without --tls-cert"}},
		{"--token-file token", "http", nil},
	} {
		if runtime.GOOS == "windows" && strings.Contains(tt.flags, "open-token") {
			continue // modes say nothing there
		}
		cmd := exec.Command(vfsctl, append([]string{"--db", "agent.db", "mcp", "--create", "--http", "127.0.0.1:0"}, strings.Fields(tt.flags)...)...)
		cmd.Dir = dir
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		var said []string
		url := ""
		for lines := bufio.NewScanner(stderr); url == "" && lines.Scan(); said = append(said, lines.Text()) {
			if m := regexp.MustCompile(`serving (\S+)$`).FindStringSubmatch(lines.Text()); m != nil {
				url = m[1]
			}
		}
		require.True(t, strings.HasPrefix(url, tt.scheme+"://"), "%s", said)
		all := strings.Join(said, "\n")
		require.Equal(t, len(tt.warnings), strings.Count(all, "warning:"), all)
		for _, w := range tt.warnings {
			require.Contains(t, all, w)
		}

		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := like.Client().Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NoError(t, answer.Body.Close())
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait())
	}
}

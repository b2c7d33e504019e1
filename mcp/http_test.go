package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/mcp"
)

const token = "a-token-of-the-test"

const ping = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// A request without the token, with a foreign host or from a foreign page is refused before its body is read.
func TestHTTPGate(t *testing.T) {
	s, _ := serve(t, nil)
	handler, err := s.Handler(&mcp.HTTPOptions{Token: token, Hosts: []string{"files.example.org"}, Origins: []string{"https://app.example.org"}})
	require.NoError(t, err)
	for _, tt := range []struct {
		name, method, path, body string
		header                   map[string]string // host is the one that is addressed
		want                     int
	}{
		{"as it should be", "POST", "/mcp", ping, nil, 200},
		{"no token", "POST", "/mcp", ping, map[string]string{"Authorization": ""}, 401},
		{"another token", "POST", "/mcp", ping, map[string]string{"Authorization": "Bearer " + token + "x"}, 401},
		{"the token's beginning", "POST", "/mcp", ping, map[string]string{"Authorization": "Bearer " + token[:4]}, 401},
		{"an empty token", "POST", "/mcp", ping, map[string]string{"Authorization": "Bearer "}, 401},
		{"another scheme", "POST", "/mcp", ping, map[string]string{"Authorization": "Basic " + token}, 401},
		{"a scheme in other case", "POST", "/mcp", ping, map[string]string{"Authorization": "bearer " + token}, 200},
		{"localhost", "POST", "/mcp", ping, map[string]string{"host": "localhost:8080"}, 200},
		{"IPv6", "POST", "/mcp", ping, map[string]string{"host": "[::1]:8080"}, 200},
		{"IPv6 without a port", "POST", "/mcp", ping, map[string]string{"host": "[::1]"}, 200},
		{"a host that is allowed", "POST", "/mcp", ping, map[string]string{"host": "Files.example.org:443"}, 200},
		{"a foreign host", "POST", "/mcp", ping, map[string]string{"host": "evil.example.org"}, 403},
		{"a host that only looks local", "POST", "/mcp", ping, map[string]string{"host": "localhost.evil.example.org"}, 403},
		{"an address of the network", "POST", "/mcp", ping, map[string]string{"host": "10.0.0.1:80"}, 403},
		{"no host", "POST", "/mcp", ping, map[string]string{"host": ""}, 403},
		{"a page of this machine", "POST", "/mcp", ping, map[string]string{"Origin": "http://localhost:5173"}, 200},
		{"a page that is allowed", "POST", "/mcp", ping, map[string]string{"Origin": "https://app.example.org"}, 200},
		{"the same page without encryption", "POST", "/mcp", ping, map[string]string{"Origin": "http://app.example.org"}, 403},
		{"a foreign page", "POST", "/mcp", ping, map[string]string{"Origin": "https://evil.example.org"}, 403},
		{"a page of a file", "POST", "/mcp", ping, map[string]string{"Origin": "null"}, 403},
		{"a page by a foreign name", "POST", "/mcp", ping, map[string]string{"Origin": "http://127.0.0.1.evil.example.org"}, 403},
		{"a foreign page asks first", "OPTIONS", "/mcp", "", map[string]string{"Origin": "https://evil.example.org"}, 403},
		{"an allowed page asks first", "OPTIONS", "/mcp", "", map[string]string{"Origin": "https://app.example.org", "Authorization": ""}, 204},
		{"another path", "POST", "/", ping, nil, 404},
		{"a huge body", "POST", "/mcp", strings.Repeat(" ", 17<<20), nil, 413},
		{"no JSON", "POST", "/mcp", "hello", nil, 400},
		{"a session that is not", "POST", "/mcp", ping, map[string]string{"Mcp-Session-Id": "none"}, 404},
		{"another method", "PUT", "/mcp", ping, nil, 405},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), tt.method, "http://127.0.0.1:8080"+tt.path, strings.NewReader(tt.body))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			for key, value := range tt.header {
				if key == "host" {
					r.Host = value
				} else {
					r.Header.Set(key, value)
				}
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			require.Equal(t, tt.want, w.Code, w.Body.String())
			require.NotContains(t, w.Body.String(), token)
			allowed := w.Header().Get("Access-Control-Allow-Origin")
			require.Equal(t, tt.header["Origin"] == "https://app.example.org", allowed != "")
			require.NotEqual(t, "*", allowed)
			if tt.want == 401 {
				require.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
			}
		})
	}
}

func TestHTTPOptions(t *testing.T) {
	s, _ := serve(t, nil)
	for _, o := range []*mcp.HTTPOptions{
		nil,
		{},
		{Token: token, Origins: []string{"*"}},
		{Token: token, Origins: []string{"https://app.example.org/"}},
	} {
		_, err := s.Handler(o)
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	require.Len(t, mcp.NewToken(), 26)
	require.NotEqual(t, mcp.NewToken(), mcp.NewToken())
}

// Only this machine is listened to, unless a name is given by which others may call.
func TestListen(t *testing.T) {
	for _, tt := range []struct {
		addr  string
		hosts []string
		want  error
	}{
		{":0", nil, nil},
		{"localhost:0", nil, nil},
		{"127.0.0.1:0", nil, nil},
		{"0.0.0.0:0", nil, syscall.EACCES},
		{"[::]:0", nil, syscall.EACCES},
		{"0.0.0.0:0", []string{"files.example.org"}, nil},
		{"8080", nil, syscall.EINVAL},
	} {
		l, err := mcp.Listen(t.Context(), tt.addr, &mcp.HTTPOptions{Hosts: tt.hosts})
		require.ErrorIs(t, err, tt.want, tt.addr)
		if err != nil {
			continue
		}
		if tt.hosts == nil {
			require.True(t, l.Addr().(*net.TCPAddr).IP.IsLoopback(), tt.addr)
		}
		require.NoError(t, l.Close())
	}
}

// bearer is a client's transport that carries the token.
type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.RoundTripper.RoundTrip(r)
}

// connectHTTP connects a client over HTTP.
func connectHTTP(t *testing.T, url, version string, o *sdk.ClientOptions) (*sdk.ClientSession, error) {
	t.Helper()
	web := &http.Transport{}
	t.Cleanup(web.CloseIdleConnections)
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o)
	return client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{web}}, MaxRetries: -1},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
}

// grace is the time that a server waits for answers to go out at its end. No test takes so long.
const grace = 30 * time.Second

// listen serves over HTTP until the test ends.
func listen(t *testing.T, s *mcp.Server, o *mcp.HTTPOptions) (url string, stop func()) {
	t.Helper()
	mcp.SetGrace(s, grace)
	l, err := mcp.Listen(t.Context(), ":0", o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- s.ServeHTTP(ctx, l, o) }()
	var stopped bool
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, <-served)
		}
	}
	t.Cleanup(stop)
	return "http://" + l.Addr().String() + mcp.Endpoint, stop
}

// Both ways to speak work over HTTP, side by side.
func TestHTTP(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		s, fsys := serve(t, nil)
		url, _ := listen(t, s, &mcp.HTTPOptions{Token: token})
		c, err := connectHTTP(t, url, version, nil)
		require.NoError(t, err)
		require.Equal(t, version, c.InitializeResult().ProtocolVersion)
		call(t, c, "workspace_write_file", args{"path": "/a", "content": "a"})
		require.Contains(t, text(try(t, c, "workspace_read_file", args{"path": "/a"})), "\na\n")
		require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))
		require.NoError(t, c.Close())
	})
}

// The end of the server ends its clients' sessions and waits for nobody.
func TestHTTPShutdown(t *testing.T) {
	s, _ := serve(t, nil)
	url, stop := listen(t, s, &mcp.HTTPOptions{Token: token})
	c, err := connectHTTP(t, url, stateful, nil)
	require.NoError(t, err)
	call(t, c, "workspace_ls", nil)
	began := time.Now()
	stop() // the client's stream for notifications is open
	require.Less(t, time.Since(began), grace)
	_, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "workspace_ls"})
	require.Error(t, err)
	_ = c.Close()
}

// A client that does not read its answer holds up the end for a while, and no longer.
func TestHTTPShutdownDeafClient(t *testing.T) {
	s, fsys := serve(t, nil)
	mcp.SetGrace(s, 50*time.Millisecond)
	require.NoError(t, fsys.WriteFile(t.Context(), "large", []byte(strings.Repeat("x", 8<<20)), 0o644))
	l, err := mcp.Listen(t.Context(), ":0", &mcp.HTTPOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.ServeHTTP(ctx, l, &mcp.HTTPOptions{Token: token}) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	body := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + base(t, fsys) + `large","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: %slarge\r\nContent-Length: %d\r\n\r\n%s",
		token, base(t, fsys), len(body), body)
	require.NoError(t, err)
	begin := make([]byte, 15)
	_, err = io.ReadFull(conn, begin)
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 200 OK", string(begin))
	cancel()
	select {
	case <-served: // with an error or without: the kernel may have taken it all
	case <-time.After(time.Minute):
		require.FailNow(t, "the server does not end")
	}
}

func TestHTTPSessions(t *testing.T) {
	s, _ := serve(t, nil)
	url, _ := listen(t, s, &mcp.HTTPOptions{Token: token, MaxSessions: 1})
	one, err := connectHTTP(t, url, stateful, nil)
	require.NoError(t, err)
	_, err = connectHTTP(t, url, stateful, nil)
	require.Error(t, err)
	call(t, one, "workspace_ls", nil)
	require.NoError(t, one.Close())
	two, err := connectHTTP(t, url, stateful, nil)
	require.NoError(t, err)
	require.NoError(t, two.Close())
}

// A bound below zero is refused before anything is served.
func TestNegativeBounds(t *testing.T) {
	s, fsys := serve(t, nil)
	_, err := s.Handler(&mcp.HTTPOptions{Token: token, MaxSessions: -1})
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = mcp.New(t.Context(), []mcp.Workspace{{FS: fsys}}, &mcp.Options{PageSize: -1})
	require.ErrorIs(t, err, syscall.EINVAL)
}

package webdav_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
	"vfsdb/webdav"
)

// A client sends requests to a handler.
type client struct {
	*testing.T
	http.Handler
}

func newClient(t *testing.T, fsys *vfs.FS) client { return client{t, webdav.New(fsys, nil)} }

// send sends a request with headers, in pairs of name and value.
func (c client) send(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	c.Helper()
	r := httptest.NewRequestWithContext(c.Context(), method, "http://127.0.0.1:80", strings.NewReader(body))
	r.URL.Path = target
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

// require sends a request and compares the status of the answer, which it returns.
func (c client) require(status int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	c.Helper()
	w := c.send(method, target, body, headers...)
	require.Equal(c, status, w.Code, "%s %s: %s", method, target, w.Body)
	return w
}

// changes are requests that change something, and their destinations.
var changes = []struct{ method, target, to string }{
	{"PUT", "/a", ""},
	{"PUT", "/new", ""},
	{"DELETE", "/a", ""},
	{"MKCOL", "/dir2", ""},
	{"COPY", "/a", "/b"},
	{"MOVE", "/a", "/b"},
	{"PROPPATCH", "/a", ""},
	{"LOCK", "/a", ""},
	{"UNLOCK", "/a", ""},
}

func TestWhoMayCall(t *testing.T) {
	fsys := vfstest.New(t, "a")
	handler := webdav.New(fsys, nil)
	for _, tt := range []struct {
		name, host, origin, site string
		want                     int
	}{
		{"a program", "127.0.0.1:80", "", "", 200},
		{"by name", "localhost:80", "", "", 200},
		{"IPv6", "[::1]:80", "", "", 200},
		{"a name that resolves to the loopback", "attacker.example:80", "", "", 403},
		{"no host", "", "", "", 403},
		{"an address", "192.0.2.1", "", "", 403},
		{"a page of this server", "localhost:80", "http://localhost:80", "same-origin", 200},
		{"what a user has typed", "localhost:80", "", "none", 200},
		{"a page of another site", "localhost:80", "https://attacker.example", "cross-site", 403},
		{"an image on such a page", "localhost:80", "", "cross-site", 403},
		{"a page of another server of this machine", "localhost:80", "http://localhost:3000", "same-site", 403},
		{"an old browser there", "localhost:80", "http://localhost:3000", "", 403},
		{"a sandbox", "localhost:80", "null", "", 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, method := range []string{"GET", "PROPFIND", "DELETE"} {
				r := httptest.NewRequestWithContext(t.Context(), method, "/a", nil)
				r.Host = tt.host
				r.Header.Set("Depth", "0")
				if tt.origin != "" {
					r.Header.Set("Origin", tt.origin)
				}
				if tt.site != "" {
					r.Header.Set("Sec-Fetch-Site", tt.site)
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				want := tt.want
				if want == 200 {
					want = map[string]int{"GET": 200, "PROPFIND": 207, "DELETE": 204}[method]
					vfstest.Write(t, fsys, "a", "a")
				}
				require.Equal(t, want, w.Code, method)
			}
		})
	}
}

// A stored page gets no rights.
func TestSandbox(t *testing.T) {
	w := newClient(t, vfstest.New(t, "page.html")).require(200, "GET", "/page.html", "")
	require.Equal(t, "sandbox", w.Header().Get("Content-Security-Policy"))
	require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
}

func TestReadOnly(t *testing.T) {
	fsys := vfstest.New(t, "a")
	past := vfstest.Snapshot(t, fsys, "now")
	before, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	for _, handler := range []http.Handler{webdav.New(past.FS, nil), webdav.New(fsys, &webdav.Options{ReadOnly: true})} {
		c := client{t, handler}
		for _, tt := range changes {
			c.require(403, tt.method, tt.target, "", "Destination", tt.to)
		}
		c.require(200, "GET", "/a", "")
		c.require(200, "OPTIONS", "/a", "")
		c.require(207, "PROPFIND", "/", "", "Depth", "1")
	}
	after, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestRead(t *testing.T) {
	fsys := vfstest.New(t, "dir/")
	c := newClient(t, fsys)
	vfstest.Write(t, fsys, "f.txt", strings.Repeat("0123456789", 100_000))
	w := c.require(206, "GET", "/f.txt", "", "Range", "bytes=600005-600014")
	require.Equal(t, "5678901234", w.Body.String())
	require.Equal(t, "bytes 600005-600014/1000000", w.Header().Get("Content-Range"))
	require.Empty(t, c.require(200, "HEAD", "/f.txt", "").Body.String())
	c.require(416, "GET", "/f.txt", "", "Range", "bytes=1000000-")

	// The ETag is of the content alone.
	tag := w.Header().Get("ETag")
	sum, err := fsys.Sum(t.Context(), "f.txt")
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf(`"%s"`, sum), tag)
	require.NoError(t, fsys.Chmod(t.Context(), "f.txt", 0o600))
	c.require(304, "GET", "/f.txt", "", "If-None-Match", tag)
	vfstest.Write(t, fsys, "f.txt", "other")
	c.require(200, "GET", "/f.txt", "", "If-None-Match", tag)

	c.require(404, "GET", "/missing", "")
	c.require(405, "GET", "/dir", "")
	c.require(405, "POST", "/f.txt", "")
	c.require(405, "TRACE", "/f.txt", "")
}

func TestPaths(t *testing.T) {
	fsys := vfstest.New(t, "a", "dir/b")
	c := newClient(t, fsys)
	for _, target := range []string{"/a", "//a", "/dir/../a", "/../../a", "/./a"} {
		require.Equal(t, "a", c.require(200, "GET", target, "").Body.String(), target)
	}
	for _, target := range []string{"/a\x00", "/a/x", "/" + strings.Repeat("n", 256), "/" + strings.Repeat("d/", 3000)} {
		c.require(404, "GET", target, "")
		require.GreaterOrEqual(t, c.send("PUT", target, "x").Code, 400)
	}
	c.require(405, "PUT", "/dir", "x")
	c.require(409, "PUT", "/no/file", "x")
	c.require(409, "MKCOL", "/no/dir", "")
	c.require(405, "MKCOL", "/dir", "")
	c.require(403, "DELETE", "/", "")
	c.require(409, "COPY", "/dir", "", "Destination", "/dir/in/it")
	c.require(404, "COPY", "/a/below", "", "Destination", "/c")
	c.require(404, "MOVE", "/a/below", "", "Destination", "/c")
	c.require(502, "COPY", "/a", "", "Destination", "http://elsewhere.example/b")
	require.Equal(t, []string{"a", "dir/", "dir/b"}, vfstest.Names(t, fsys))
}

func TestSymlinks(t *testing.T) {
	fsys := vfstest.New(t, "dir/a")
	for name, target := range map[string]string{"dir/loop": ".", "dir/self": "self", "host": "/etc/passwd", "up": "../../dir/a"} {
		require.NoError(t, fsys.Symlink(t.Context(), target, name))
	}
	c := newClient(t, fsys)
	require.Equal(t, "dir/a", c.require(200, "GET", "/up", "").Body.String())
	c.require(404, "GET", "/host", "")
	c.require(404, "GET", "/dir/self", "")
	for _, depth := range []string{"infinity", ""} {
		w := c.require(403, "PROPFIND", "/dir", "", "Depth", depth)
		require.Contains(t, w.Body.String(), "propfind-finite-depth")
	}
	w := c.require(207, "PROPFIND", "/dir", "", "Depth", "1")
	require.Contains(t, w.Body.String(), "/dir/a<")
	require.Contains(t, w.Body.String(), "/dir/loop/<")
	require.NotContains(t, w.Body.String(), "self")
	c.require(404, "PROPFIND", "/host", "", "Depth", "0")
	c.require(207, "PROPFIND", "/", "", "Depth", "1")

	c.require(201, "COPY", "/dir", "", "Destination", "/dir2")
	target, err := fsys.Readlink(t.Context(), "dir2/loop")
	require.NoError(t, err)
	require.Equal(t, ".", target)
}

// broken is a body that ends before its time.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func TestPut(t *testing.T) {
	fsys := vfstest.New(t)
	c := newClient(t, fsys)
	large := strings.Repeat("0123456789abcdef", 3<<16)
	c.require(201, "PUT", "/f", large)
	require.Equal(t, large, vfstest.Read(t, fsys, "f"))

	// An upload that breaks changes nothing.
	r := httptest.NewRequestWithContext(t.Context(), "PUT", "http://localhost/f", broken{strings.NewReader(large[:2<<20] + "x")})
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	require.GreaterOrEqual(t, w.Code, 400)
	require.Equal(t, large, vfstest.Read(t, fsys, "f"))

	// Of several writers who have read the same, one wins.
	tag := c.require(201, "PUT", "/f", "one").Header().Get("ETag")
	require.Equal(t, tag, c.require(200, "GET", "/f", "").Header().Get("ETag"))
	c.require(201, "PUT", "/f", "two", "If-Match", tag)
	c.require(412, "PUT", "/f", "three", "If-Match", tag)
	c.require(201, "PUT", "/f", "two", "If-Match", "*")
	c.require(412, "PUT", "/missing", "x", "If-Match", "*")
	c.require(412, "PUT", "/f", "four", "If-None-Match", "*")
	c.require(201, "PUT", "/g", "new", "If-None-Match", "*")
	c.require(412, "PUT", "/g", "x", "If-None-Match", tag)
	c.require(412, "DELETE", "/g", "", "If-Match", tag)
	require.Equal(t, "two", vfstest.Read(t, fsys, "f"))
	require.Equal(t, []string{"f", "g"}, vfstest.Names(t, fsys))
}

func TestStoreThatRefuses(t *testing.T) {
	fsys := vfstest.New(t, "a", "dir/")
	c := newClient(t, fsys) // before the store is read-only
	fsys.Store().SetReadOnly(true)
	defer fsys.Store().SetReadOnly(false)
	for _, tt := range changes[:6] {
		c.require(403, tt.method, tt.target, "", "Destination", tt.to)
	}
}

// What was changed by a request has its name and its actor.
func TestLog(t *testing.T) {
	fsys := vfstest.New(t)
	client{t, webdav.New(fsys, &webdav.Options{Actor: "me"})}.require(201, "PUT", "/f", "x")
	list, err := fsys.Log(t.Context(), &vfs.LogOptions{Newest: true, Max: 1})
	require.NoError(t, err)
	require.Equal(t, "webdav PUT", list[0].Tool)
	require.Equal(t, "me", list[0].Actor)
}

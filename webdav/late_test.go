package webdav

import (
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	dav "golang.org/x/net/webdav"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// newRequest is what a handler makes of a request.
func newRequest(t *testing.T, fsys *vfs.FS, method, target string, headers map[string]string) *request {
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+target, nil)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return &request{Request: r, fsys: fsys}
}

// x/net has seen that nothing is at the new name, and something is made there before the last step.
func TestLateTarget(t *testing.T) {
	fsys := vfstest.New(t, "a", "late")
	keep := map[string]string{"Overwrite": "F"}
	for _, method := range []string{"MOVE", "COPY"} {
		q := newRequest(t, fsys, method, "/a", keep)
		if method == "MOVE" {
			require.ErrorIs(t, q.Rename(t.Context(), "/a", "/late"), errKept)
		} else {
			_, err := q.OpenFile(t.Context(), "/late", os.O_RDWR|os.O_CREATE, 0o644)
			require.ErrorIs(t, err, errKept)
		}
		require.Equal(t, http.StatusPreconditionFailed, statusOf(q.fault))
		require.Equal(t, "late", vfstest.Read(t, fsys, "late"))
	}

	require.NoError(t, fsys.Remove(t.Context(), "late"))
	require.NoError(t, fsys.MkdirAll(t.Context(), "late/dir", 0o755))
	require.NoError(t, newRequest(t, fsys, "MOVE", "/a", nil).Rename(t.Context(), "/a", "/late"))
	require.Equal(t, "a", vfstest.Read(t, fsys, "late"))
}

// The ETag of an upload is that of what was sent, also if others write the file or remove it before the answer.
func TestLateWriter(t *testing.T) {
	fsys := vfstest.New(t)
	sum := vfs.SumOf([]byte("mine"))
	for _, then := range []func() error{
		func() error { return fsys.WriteFile(t.Context(), "f", []byte("theirs"), 0o644) },
		func() error { return fsys.Remove(t.Context(), "f") },
	} {
		q := newRequest(t, fsys, "PUT", "/f", nil)
		f, err := q.OpenFile(t.Context(), "/f", os.O_RDWR|os.O_CREATE, 0o644)
		require.NoError(t, err)
		_, err = io.Copy(f, struct{ io.Reader }{strings.NewReader("mine")})
		require.NoError(t, err)
		require.NoError(t, then())
		stored, err := f.Stat()
		require.NoError(t, err)
		tag, err := stored.(info).ETag(t.Context())
		require.NoError(t, err)
		require.Equal(t, etag(sum), tag)
	}
}

// Properties of a file that others remove in the meantime are no fault of the server.
func TestLateProperties(t *testing.T) {
	fsys := vfstest.New(t, "f")
	q := newRequest(t, fsys, "PROPPATCH", "/f", nil)
	f, err := q.OpenFile(t.Context(), "/f", os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, fsys.Remove(t.Context(), "f"))
	_, err = f.(*file).Patch([]dav.Proppatch{{Props: []dav.Property{{XMLName: xml.Name{Local: "tag"}}}}})
	require.Error(t, err)
	require.Equal(t, http.StatusNotFound, statusOf(q.fault))
}

// A client that stops in the middle of an upload, or that reads no answer, keeps neither a lock nor the server's time.
func TestSilence(t *testing.T) {
	fsys := vfstest.New(t)
	_, err := fsys.WriteFrom(t.Context(), "large", io.LimitReader(zeros{}, 64<<20), 0o644)
	require.NoError(t, err)
	h := New(fsys, nil).(*handler)
	h.silence = 50 * time.Millisecond
	left := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		left <- r.Method
	}))
	defer server.Close()

	for _, tt := range []struct{ method, target, body string }{
		{"PUT", "/f", "half"},
		{"PUT", "/f", ""},
		{"PROPFIND", "/large", "<"},
		{"GET", "/large", ""},
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		length := ""
		if tt.method != http.MethodGet {
			length = "Content-Length: 1000\r\nDepth: 0\r\n"
		}
		_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n%s", tt.method, tt.target, length, tt.body)
		require.NoError(t, err)
		select {
		case method := <-left:
			require.Equal(t, tt.method, method)
		case <-time.After(time.Minute):
			t.Fatal("the server still waits for the client: " + tt.method)
		}

		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPut, "http://127.0.0.1/f", strings.NewReader("whole")))
		require.Equal(t, http.StatusCreated, w.Code, w.Body)
	}
	require.Equal(t, "whole", vfstest.Read(t, fsys, "f"))
}

// A connection that is cut in the middle of a large upload leaves the file as it was, and no lock.
func TestCutUpload(t *testing.T) {
	fsys := vfstest.New(t, "f")
	server := httptest.NewServer(New(fsys, nil))
	defer server.Close()
	for _, header := range []string{"Content-Length: 67108864", "Transfer-Encoding: chunked"} {
		for _, target := range []string{"/f", "/new"} {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			require.NoError(t, err)
			_, err = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n\r\n", target, header)
			require.NoError(t, err)
			if strings.HasPrefix(header, "Transfer") {
				_, err = fmt.Fprintf(conn, "%x\r\n", 64<<20)
				require.NoError(t, err)
			}
			_, err = io.Copy(conn, io.LimitReader(zeros{}, 20<<20))
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			require.Eventually(t, func() bool { // the server may still read
				r, err := http.NewRequestWithContext(t.Context(), "PROPPATCH", server.URL+target, nil)
				require.NoError(t, err)
				response, err := http.DefaultClient.Do(r)
				require.NoError(t, err)
				defer response.Body.Close()
				return response.StatusCode != dav.StatusLocked
			}, time.Minute, time.Millisecond)
		}
	}
	require.Equal(t, []string{"f"}, vfstest.Names(t, fsys))
	require.Equal(t, "f", vfstest.Read(t, fsys, "f"))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

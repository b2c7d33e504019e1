package webdav_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
	"vfsdb/webdav"
)

// patch is the body of a PROPPATCH that sets one property.
func patch(name, value string) string {
	return fmt.Sprintf(`<?xml version="1.0"?><D:propertyupdate xmlns:D="DAV:" xmlns:x="http://example.com/x">`+
		`<D:set><D:prop><x:%s>%s</x:%s></D:prop></D:set></D:propertyupdate>`, name, value, name)
}

// prop returns the answer to a question for one property.
func (c client) prop(target, name string) string {
	c.Helper()
	return c.require(207, "PROPFIND", target, fmt.Sprintf(`<?xml version="1.0"?><D:propfind xmlns:D="DAV:" xmlns:x="http://example.com/x">`+
		`<D:prop><x:%s/></D:prop></D:propfind>`, name), "Depth", "0").Body.String()
}

func TestTransfer(t *testing.T) {
	for _, tt := range []struct {
		name, method, from, to string
		headers                []string
		status                 int
		want                   string // names, apart by spaces
	}{
		{"a file", "COPY", "/a", "/b", nil, 201, "a b dir/ dir/f dir/sub/ dir/sub/g full/ full/h"},
		{"a file over another one", "COPY", "/a", "/full/h", nil, 204, "a dir/ dir/f dir/sub/ dir/sub/g full/ full/h"},
		{"over nothing else", "COPY", "/a", "/full", []string{"Overwrite", "F"}, 412, ""},
		{"a file over a directory", "COPY", "/a", "/full", nil, 204, "a dir/ dir/f dir/sub/ dir/sub/g full"},
		{"a directory", "COPY", "/dir", "/d", nil, 201, "a d/ d/f d/sub/ d/sub/g dir/ dir/f dir/sub/ dir/sub/g full/ full/h"},
		{"a directory alone", "COPY", "/dir", "/d", []string{"Depth", "0"}, 201, "a d/ dir/ dir/f dir/sub/ dir/sub/g full/ full/h"},
		{"a directory over another", "COPY", "/dir", "/full", nil, 204, "a dir/ dir/f dir/sub/ dir/sub/g full/ full/f full/sub/ full/sub/g"},
		{"into itself", "COPY", "/dir", "/dir/sub/x", nil, 403, ""},
		{"over what is above", "COPY", "/dir/sub", "/dir", nil, 409, ""},
		{"nothing", "COPY", "/no", "/x", nil, 404, ""},
		{"below nothing", "COPY", "/a", "/no/x", nil, 409, ""},
		{"the root", "COPY", "/", "/x", nil, 403, ""},
		{"a file", "MOVE", "/a", "/b", nil, 201, "b dir/ dir/f dir/sub/ dir/sub/g full/ full/h"},
		{"a directory over another", "MOVE", "/dir", "/full", nil, 204, "a full/ full/f full/sub/ full/sub/g"},
		{"over nothing else", "MOVE", "/dir", "/full", []string{"Overwrite", "F"}, 412, ""},
		{"into itself", "MOVE", "/dir", "/dir/sub", nil, 403, ""},
		{"over what is above", "MOVE", "/dir/sub", "/dir", nil, 409, ""},
		{"nothing", "MOVE", "/no", "/full", nil, 404, ""},
		{"below nothing", "MOVE", "/a", "/no/x", nil, 409, ""},
		{"the root", "MOVE", "/", "/x", nil, 403, ""},
	} {
		t.Run(tt.method+" "+tt.name, func(t *testing.T) {
			fsys := vfstest.New(t, "a", "dir/f", "dir/sub/g", "full/h")
			before := vfstest.Names(t, fsys)
			c := newClient(t, fsys)
			c.require(tt.status, tt.method, tt.from, "", append(tt.headers, "Destination", "http://127.0.0.1:80"+tt.to)...)
			if tt.want == "" {
				require.Equal(t, before, vfstest.Names(t, fsys), "nothing is lost")
				return
			}
			require.Equal(t, strings.Fields(tt.want), vfstest.Names(t, fsys))
		})
	}
}

func TestProperties(t *testing.T) {
	fsys := vfstest.New(t, "f", "dir/in")
	c := newClient(t, fsys)
	for _, name := range []string{"/f", "/dir", "/dir/in"} {
		require.Contains(t, c.require(207, "PROPPATCH", name, patch("tag", "<b>é</b> &amp; more")).Body.String(), "200 OK")
	}
	const value = "<b>é</b> &amp; more"

	// They are stored: another server has them, and so has a snapshot when they have changed.
	c = newClient(t, fsys)
	past := vfstest.Snapshot(t, fsys, "before")
	for _, name := range []string{"/f", "/dir", "/dir/in"} {
		require.Contains(t, c.prop(name, "tag"), value)
	}
	c.require(207, "PROPPATCH", "/f", patch("tag", "changed"))
	require.Contains(t, c.prop("/f", "tag"), "changed")
	require.Contains(t, newClient(t, past.FS).prop("/f", "tag"), value)
	c.require(201, "PUT", "/f", "other content")
	require.Contains(t, c.prop("/f", "tag"), "changed")

	// Copies and moves keep them, those of directories and those below too.
	c.require(201, "COPY", "/f", "", "Destination", "/g")
	require.Contains(t, c.prop("/g", "tag"), "changed")
	c.require(201, "COPY", "/dir", "", "Destination", "/whole")
	c.require(201, "COPY", "/dir", "", "Destination", "/alone", "Depth", "0")
	c.require(201, "MOVE", "/dir", "", "Destination", "/moved")
	for _, name := range []string{"/whole", "/whole/in", "/alone", "/moved", "/moved/in"} {
		require.Contains(t, c.prop(name, "tag"), value)
	}

	remove := strings.NewReplacer("D:set", "D:remove").Replace(patch("tag", ""))
	c.require(207, "PROPPATCH", "/f", remove)
	require.Contains(t, c.prop("/f", "tag"), "404")
	c.require(207, "PROPPATCH", "/f", remove)
}

// Properties have a bound, and those that do not fit change nothing.
func TestPropertiesBound(t *testing.T) {
	fsys := vfstest.New(t, "f")
	c := newClient(t, fsys)
	half := strings.Repeat("x", 40_000)
	require.Contains(t, c.require(207, "PROPPATCH", "/f", patch("one", half)).Body.String(), "200 OK")
	require.Contains(t, c.require(207, "PROPPATCH", "/f", patch("two", half)).Body.String(), "507 Insufficient Storage")
	require.Contains(t, c.prop("/f", "two"), "404")
	require.Contains(t, c.prop("/f", "one"), half)

	before, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	for _, method := range []string{"PROPPATCH", "PROPFIND", "LOCK"} {
		require.GreaterOrEqual(t, c.send(method, "/f", patch("three", half+half), "Depth", "0").Code, 400, method)
	}
	after, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	require.Equal(t, before, after)
}

const lockBody = `<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>` +
	`<D:locktype><D:write/></D:locktype></D:lockinfo>`

func TestLocks(t *testing.T) {
	fsys := vfstest.New(t, "f", "g")
	c := newClient(t, fsys)
	for header, want := range map[string]string{
		"": "Second-86400", "Infinite": "Second-86400", "Second-60": "Second-60", "Second-99999999": "Second-86400",
		"Infinite, Second-4100000000": "Second-86400",
	} {
		w := c.require(200, "LOCK", "/f", lockBody, "Timeout", header, "Depth", "0")
		require.Contains(t, w.Body.String(), want, "%q", header)
		token := w.Header().Get("Lock-Token")
		c.require(423, "PUT", "/f", "x")
		c.require(201, "PUT", "/f", "x", "If", "("+token+")")
		c.require(423, "LOCK", "/f", lockBody)
		c.require(204, "UNLOCK", "/f", "", "Lock-Token", token)
		c.require(201, "PUT", "/f", "x")
	}
	c.require(400, "LOCK", "/f", lockBody, "Timeout", "Second-x")
	c.require(201, "LOCK", "/made", lockBody)
	require.Empty(t, vfstest.Read(t, fsys, "made"))

	for i := range 1024 - 1 {
		c.require(201, "LOCK", fmt.Sprintf("/lock%d", i), lockBody)
	}
	require.GreaterOrEqual(t, c.send("LOCK", "/toomany", lockBody).Code, 500)
	c.require(201, "PUT", "/g2", "x")
}

// A lock holds for the file, whatever path leads there.
func TestLocksOfSymlinks(t *testing.T) {
	fsys := vfstest.New(t, "dir/f")
	for name, target := range map[string]string{"link": "dir/f", "way": "dir", "dangling": "dir/new"} {
		require.NoError(t, fsys.Symlink(t.Context(), target, name))
	}
	c := newClient(t, fsys)
	paths := []string{"/dir/f", "/link", "/way/f"}
	for _, locked := range append(paths, "/way", "/dir") {
		token := c.require(200, "LOCK", locked, lockBody).Header().Get("Lock-Token")
		for _, path := range paths {
			c.require(423, "PUT", path, "x")
			c.require(423, "PROPPATCH", path, patch("p", "v"))
			c.require(423, "LOCK", path, lockBody)
			c.require(423, "DELETE", path, "")
			c.require(423, "MOVE", path, "", "Destination", "/moved")
			c.require(201, "PUT", path, "x", "If", "("+token+")")
		}
		c.require(204, "UNLOCK", locked, "", "Lock-Token", token)
	}

	token := c.require(201, "LOCK", "/dir/new", lockBody).Header().Get("Lock-Token")
	c.require(423, "PUT", "/dangling", "x")
	c.require(201, "PUT", "/dangling", "x", "If", "("+token+")")
	require.Equal(t, "x", vfstest.Read(t, fsys, "dir/new"))
}

// Many clients at once, over the network: of the writes to one file each is whole.
func TestMany(t *testing.T) {
	fsys := vfstest.New(t)
	server := httptest.NewServer(webdav.New(fsys, nil))
	defer server.Close()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 10 {
				text := strings.Repeat(fmt.Sprint(i), 1000)
				for _, target := range []string{"/shared", fmt.Sprintf("/own%d-%d", i, n)} {
					// Two that write the same at once may find each other's lock.
					if status := put(t, server, target, text); status != 201 && (target != "/shared" || status != 423) {
						t.Errorf("PUT %s: %d", target, status)
					}
				}
			}
		})
	}
	all.Wait()
	text := vfstest.Read(t, fsys, "shared")
	require.Equal(t, strings.Repeat(text[:1], 1000), text)
	require.Len(t, vfstest.Names(t, fsys), 81)
}

// Twenty clients use all verbs on a few names, also on such as no URL has as they are, beside writers of the program. No answer
// is a fault of the server, and the store is whole.
func TestManyVerbs(t *testing.T) {
	fsys := vfstest.New(t)
	server := httptest.NewServer(webdav.New(fsys, nil))
	defer server.Close()
	names := []string{"/a", "/dir", "/dir/b", "/dir/in/c", "/100%", "/two words", "/\u00fc\U0001f600", "/\xff\xfe", "/&<>\"'"}
	methods := []string{"PUT", "PUT", "GET", "DELETE", "MKCOL", "MOVE", "COPY", "LOCK", "UNLOCK", "PROPPATCH", "PROPFIND", "OPTIONS", "HEAD"}

	var all sync.WaitGroup
	for client := range 20 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 1))
			pick := func(list []string) string { return list[random.IntN(len(list))] }
			escaped := func(name string) string { return server.URL + (&url.URL{Path: name}).EscapedPath() }
			token := ""
			for range 40 {
				method, body := pick(methods), "text"
				switch method {
				case "LOCK":
					body = lockBody
				case "PROPPATCH":
					body = patch("tag", "value")
				case "PUT":
					body = strings.Repeat("x", random.IntN(100_000))
				default:
					body = ""
				}
				r, err := http.NewRequestWithContext(t.Context(), method, escaped(pick(names)), strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				for name, value := range map[string]string{
					"Destination": escaped(pick(names)), "Depth": pick([]string{"0", "infinity"}), "Overwrite": pick([]string{"T", "F"}),
					"Lock-Token": token, "Timeout": "Second-1",
				} {
					r.Header.Set(name, value)
				}
				answer, err := server.Client().Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(answer.Body)
				if err = errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode >= 500 {
					t.Errorf("%s %s: %s %.200s: %v", method, r.URL, answer.Status, text, err)
				}
				if method == "LOCK" {
					token = answer.Header.Get("Lock-Token")
				}
			}
		})
	}
	for writer := range 2 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(writer), 2))
			for range 100 {
				name := names[random.IntN(len(names))][1:]
				err := fsys.WriteFile(t.Context(), name, []byte("program"), 0o644, vfs.Parents())
				if random.IntN(3) == 0 {
					err = fsys.RemoveAll(t.Context(), name)
				}
				if _, ok := vfs.Errno(err); err != nil && !ok {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func put(t *testing.T, server *httptest.Server, target, text string) int {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+target, strings.NewReader(text))
	if err != nil {
		t.Error(err)
		return 0
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
	return answer.StatusCode
}

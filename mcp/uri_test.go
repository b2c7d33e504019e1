package mcp

import (
	"io/fs"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every path has a URI, and the URI means that path.
func FuzzPathToURI(f *testing.F) {
	for _, path := range []string{"a", "a/b c", "%41", "ü/\xff", "a?b#c", "{x}", "a:b@c", "..."} {
		f.Add(path)
	}
	w := files{"vfs://0123/main/"}
	f.Fuzz(func(t *testing.T, path string) {
		if !fs.ValidPath(path) && !validBytes(path) || path == "." || strings.Contains(path, "\x00") {
			t.Skip()
		}
		uri := w.uri("/" + path)
		_, err := url.Parse(uri)
		require.NoError(t, err, uri)
		got, ok := w.path(uri)
		require.Equal(t, fs.ValidPath(path), ok, uri) // a name that is no UTF-8 has a URI, and no way in
		if ok {
			require.Equal(t, "/"+path, got)
		}
	})
}

// validBytes is fs.ValidPath for names that are no UTF-8.
func validBytes(path string) bool { return fs.ValidPath(strings.ToValidUTF8(path, "x")) }

// No URI means a path outside of the workspace, or one that is not as it should be.
func FuzzURIToPath(f *testing.F) {
	for _, uri := range []string{
		"vfs://0123/main/a", "vfs://0123/main", "vfs://0123/main/", "vfs://0123/main/../x", "vfs://0123/main/%2e%2e/x",
		"vfs://0123/main/a%2fb", "vfs://0123/main/a//b", "vfs://0123/main/%00", "vfs://0123/mainx/a", "file:///a",
	} {
		f.Add(uri)
	}
	w := files{"vfs://0123/main/"}
	f.Fuzz(func(t *testing.T, uri string) {
		path, ok := w.path(uri)
		if !ok {
			return
		}
		require.True(t, strings.HasPrefix(uri+"/", w.base), uri)
		require.True(t, path == "/" || fs.ValidPath(path[1:]), path)
		require.NotContains(t, path, "\x00")
		if path != "/" {
			again, ok := w.path(w.uri(path))
			require.True(t, ok)
			require.Equal(t, path, again)
		}
	})
}

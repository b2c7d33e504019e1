package mcp

import (
	"io/fs"
	"net/url"
	"strings"
)

// The URI of a file is the ref of its branch and its path: vfs://<db-id>/<branch>/<path>. Each segment is escaped, so
// any name can be written, and every file has exactly one URI.

// files are the files of one branch, as clients name them.
type files struct {
	base string // the beginning of their URIs, with a slash at the end
}

// uri returns the URI of a path of the tree.
func (f files) uri(path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return f.base + strings.Join(segments, "/")
}

// path returns the path of a URI, with a slash in front; ok is false if the URI is not of this branch. The root has a
// URI too, with or without the slash at its end.
func (f files) path(uri string) (path string, ok bool) {
	if uri+"/" == f.base {
		return "/", true
	}

	rest, ok := strings.CutPrefix(uri, f.base)
	if !ok {
		return "", false
	}
	if rest == "" {
		return "/", true
	}

	segments := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for i, s := range segments {
		name, err := url.PathUnescape(s)
		if err != nil || strings.Contains(name, "/") {
			return "", false
		}
		segments[i] = name
	}

	path = strings.Join(segments, "/")
	return "/" + path, fs.ValidPath(path) && !strings.Contains(path, "\x00")
}

package policy

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// Clean puts paths in the form that io/fs has: "." or "a/b".
func Clean(list []string) ([]string, error) {
	var cleaned []string
	for _, text := range list {
		name := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '/' }), "/")
		if name == "" {
			name = "."
		}
		if text == "" || !fs.ValidPath(name) {
			return nil, fmt.Errorf("policy: %q is no path from the root: %w", text, syscall.EINVAL)
		}
		cleaned = append(cleaned, name)
	}
	return cleaned, nil
}

// Under reports whether path is dir, or below it.
func Under(path, dir string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

func underAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return Under(path, dir) })
}

func overAny(path string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return Under(p, path) })
}

// Rooted returns a path of the tree as models read and write it: with a slash in front.
func Rooted(path string) string {
	if path == "." {
		return "/"
	}
	return "/" + path
}

// Unrooted returns a path with a slash in front as io/fs has it.
func Unrooted(path string) string {
	if path == "/" {
		return "."
	}
	return path[1:]
}

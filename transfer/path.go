package transfer

import (
	"fmt"
	"path"
	"strings"
	"syscall"
)

// Paths inside a tree that goes in or out are relative and clean; "" is the tree itself.

const (
	maxPath = 4096
	maxName = 255
)

// join is path.Join for paths that are clean.
func join(dir, base string) string {
	if dir == "" {
		return base
	}
	return dir + "/" + base
}

// parent is path.Dir for paths that are clean.
func parent(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

// inStore returns the path by which the exporter's tree knows a path inside it.
func inStore(name string) string {
	if name == "" {
		return "."
	}
	return name
}

// A destination is the directory of the store that an import fills.
type destination string

// path returns the path in the store of a path inside the destination.
func (to destination) path(name string) string {
	switch {
	case name == "":
		return string(to)
	case to == "/": // without a slash in front: with one, the longest names would be too long
		return name
	}
	return string(to) + "/" + name
}

// cleanName returns the path inside the destination for a name in an archive.
func cleanName(name string) (string, error) {
	var segments []string
	for seg := range strings.SplitSeq(name, "/") {
		switch {
		case seg == "" || seg == ".":
		case seg == "..":
			return "", fmt.Errorf("a name with ..: %w", syscall.EINVAL)
		case len(seg) > maxName:
			return "", syscall.ENAMETOOLONG
		case strings.ContainsRune(seg, 0):
			return "", fmt.Errorf("a name with NUL: %w", syscall.EINVAL)
		default:
			segments = append(segments, seg)
		}
	}

	clean := strings.Join(segments, "/")
	if len(clean) > maxPath {
		return "", syscall.ENAMETOOLONG
	}
	return clean, nil
}

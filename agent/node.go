package agent

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"vfsdb/vfs"
)

// A node is something in the tree, as the verbs of a guard find it.
type node struct {
	path string // resolved, of the tree: "." or "a/b"
	info *vfs.Info
	sum  *vfs.Sum // of a regular file; nil if it was not asked for
}

func (n *node) name() string { return path.Base(rooted(n.path)) }

// kindOf is the word for a type of file.
func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symlink"
	}
	return "other"
}

// stat describes what is under a name. follow goes through a symlink at the end.
func (g *guard) stat(name string, follow bool) (*node, error) {
	return g.statFor(PermList, name, follow)
}

// statFor is stat for tools that need another permission than to list.
func (g *guard) statFor(perm Permission, name string, follow bool) (*node, error) {
	at, err := g.path(name, perm, follow)
	if err != nil {
		return nil, err
	}
	info, err := g.tx.Lstat(at)
	if err != nil {
		return nil, err
	}
	n := &node{path: at, info: info}
	n.sum, err = g.sum(at, info)
	return n, err
}

// look tells what a name leads to, and that it may be used so. The node has no info if nothing is there.
func (g *guard) look(name string, perm Permission, follow bool) (*node, error) {
	at, err := g.path(name, perm, follow)
	if err != nil {
		return nil, err
	}
	info, err := g.tx.Lstat(at)
	if missing(err) {
		return &node{path: at}, nil
	}
	return &node{path: at, info: info}, err
}

// lost reports whether a walk ended because something on the way is missing, or is no directory.
func lost(err error) bool { return missing(err) || errors.Is(err, syscall.ENOTDIR) }

package tool

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"vfsdb/vfs"
)

// Followed is an entry as its reader sees it: symlinks are not visible here, so each is what it leads to. One that
// leads nowhere, or where nobody may look, is neither file nor directory.
func Followed(g *Guard, n *Node) (isFile, isDir bool, err error) {
	if n.Info.Target() != "" {
		to, err := g.Stat(Rooted(n.Path), Follow)
		if err != nil {
			if Stops(err) {
				return false, false, err
			}
			return false, false, nil
		}
		n = to
	}
	return n.Info.Mode().IsRegular(), n.Info.IsDir(), nil
}

// A Node is something in the tree, as the verbs of a guard find it.
type Node struct {
	Path string // resolved, of the tree: "." or "a/b"
	Info *vfs.Info
	Sum  *vfs.Sum // of a regular file; nil if it was not asked for
}

func (n *Node) Name() string { return path.Base(Rooted(n.Path)) }

// KindOf is the word for a type of file.
func KindOf(mode fs.FileMode) string {
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

// Stat describes what is under a name. follow goes through a symlink at the end.
func (g *Guard) Stat(name string, follow bool) (*Node, error) {
	return g.StatFor(PermList, name, follow)
}

// StatFor is stat for tools that need another permission than to list.
func (g *Guard) StatFor(perm Permission, name string, follow bool) (*Node, error) {
	at, err := g.Path(name, perm, follow)
	if err != nil {
		return nil, err
	}
	info, err := g.Tx.Lstat(at)
	if err != nil {
		return nil, err
	}
	n := &Node{Path: at, Info: info}
	n.Sum, err = g.Sum(at, info)
	return n, err
}

// Look tells what a name leads to, and that it may be used so. The node has no info if nothing is there.
func (g *Guard) Look(name string, perm Permission, follow bool) (*Node, error) {
	at, err := g.Path(name, perm, follow)
	if err != nil {
		return nil, err
	}
	info, err := g.Tx.Lstat(at)
	if Missing(err) {
		return &Node{Path: at}, nil
	}
	return &Node{Path: at, Info: info}, err
}

// Lost reports whether a walk ended because something on the way is missing, or is no directory.
func Lost(err error) bool { return Missing(err) || errors.Is(err, syscall.ENOTDIR) }

package tool

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/vfs"
)

// A Node is something in the tree, as the verbs of a guard find it. Only they make one, so a verb that takes a node knows
// that the policy was asked about its path.
type Node struct {
	path string // resolved, of the tree: "." or "a/b"
	info *vfs.Info
	sum  *vfs.Sum          // of a regular file; nil if it was not asked for
	perm policy.Permission // that the policy was asked for; "" if none but to list
}

// Path is the resolved path, with a slash in front.
func (n *Node) Path() string { return policy.Rooted(n.path) }

// Name is the last part of the path.
func (n *Node) Name() string { return path.Base(policy.Rooted(n.path)) }

// Info describes the node; nil if nothing is there.
func (n *Node) Info() *vfs.Info { return n.info }

// Sum is that of a regular file; nil if it was not asked for.
func (n *Node) Sum() *vfs.Sum { return n.sum }

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
	return g.StatFor(policy.List, name, follow)
}

// StatFor is stat for tools that need another permission than to list.
func (g *Guard) StatFor(perm policy.Permission, name string, follow bool) (*Node, error) {
	at, err := g.path(name, perm, follow)
	if err != nil {
		return nil, err
	}
	info, err := g.tx.Lstat(at)
	if err != nil {
		return nil, err
	}
	n := &Node{path: at, info: info, perm: perm}
	n.sum, err = g.sum(at, info)
	return n, err
}

// Look finds what a name leads to, and asks whether it may be used so. The node has no info if nothing is there.
func (g *Guard) Look(name string, perm policy.Permission, follow bool) (*Node, error) {
	at, err := g.path(name, perm, follow)
	if err != nil {
		return nil, err
	}
	info, err := g.tx.Lstat(at)
	if Missing(err) {
		return &Node{path: at, perm: perm}, nil
	}
	return &Node{path: at, info: info, perm: perm}, err
}

// Lost reports whether a walk ended because something on the way is missing, or is no directory.
func Lost(err error) bool { return Missing(err) || errors.Is(err, syscall.ENOTDIR) }

// Followed is an entry as its reader sees it: symlinks are not visible here, so each is what it leads to. One that
// leads nowhere, or where nobody may look, is neither file nor directory.
func (g *Guard) Followed(n *Node) (isFile, isDir bool, err error) {
	if n.info.Target() != "" {
		to, err := g.Stat(policy.Rooted(n.path), Follow)
		if err != nil {
			if Stops(err) {
				return false, false, err
			}
			return false, false, nil
		}
		n = to
	}
	return n.info.Mode().IsRegular(), n.info.IsDir(), nil
}

// Content is the content of a file. One that was not found to be read has to be allowed, and approved, now.
func (g *Guard) Content(n *Node) ([]byte, error) {
	if n.perm != policy.Read {
		if err := g.box.policy.MayUse(policy.Read, n.path); err != nil {
			return nil, err
		}
		if err := g.approved(policy.Read, n.path); err != nil {
			return nil, err
		}
	}
	return g.tx.ReadFile(n.path)
}

// Past is a content that a file had, by its sum, up to max bytes. The file has to have been found to be read.
func (g *Guard) Past(n *Node, sum vfs.Sum, max int64) ([]byte, error) {
	if err := g.box.policy.MayUse(policy.Read, n.path); err != nil {
		return nil, err
	}
	return g.tx.ReadSum(sum, max)
}

// Describe describes a node as it is now.
func (g *Guard) Describe(n *Node) (*Node, error) {
	info, err := g.tx.Lstat(n.path)
	if err != nil {
		return nil, err
	}
	sum, err := g.sum(n.path, info)
	return &Node{path: n.path, info: info, sum: sum, perm: n.perm}, err
}

// Missing reports whether err is that there is nothing under a name.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

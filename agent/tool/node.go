package tool

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/vfs"
)

// A Node is a file, directory or symlink that a verb of a guard has found. Only verbs make one, so a verb that takes
// a node knows that the policy was asked about its path.
type Node struct {
	path string // resolved, of the tree: "." or "a/b"
	info *vfs.Info
	sum  *vfs.Sum          // of a regular file; nil if it was not asked for
	perm policy.Permission // the permission that the policy was asked for; "" is to list
}

// Path returns the resolved path, with a slash in front.
func (n *Node) Path() string { return policy.Rooted(n.path) }

// Name returns the last part of the path.
func (n *Node) Name() string { return path.Base(policy.Rooted(n.path)) }

// Info describes the node; nil if nothing is there.
func (n *Node) Info() *vfs.Info { return n.info }

// Sum returns the sum of a regular file; nil if the verb did not read it.
func (n *Node) Sum() *vfs.Sum { return n.sum }

// Stat describes a file or directory. With follow, a symlink at the end is followed.
func (g *Guard) Stat(name string, follow bool) (*Node, error) {
	return g.StatFor(policy.List, name, follow)
}

// StatFor does what Stat does, for tools that need another permission than to list.
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

// Followed reports whether an entry is a file or a directory, for tools that do not show symlinks: each counts as
// what it leads to. One that leads nowhere, or out of the policy, is neither.
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

// Content returns the content of a file. If the node was not found with the permission to read, the policy is asked
// now.
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

// Past returns an earlier content of a file, by its sum, up to max bytes. It asks for no approval, so the node has to
// be one that was found with the permission to read.
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

// Missing reports whether err means that nothing has the name.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

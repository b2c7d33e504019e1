package tool

import (
	"fmt"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/vfs"
)

// Move gives something another name, and merges a directory into one that is there. The policy is asked about both ends,
// and about all that moves with a directory.
func (g *Guard) Move(from, to string, overwrite bool, pre Precondition) (source, dest *Node, err error) {
	if source, dest, err = g.ends(from, to, policy.Write, Keep); err != nil {
		return nil, nil, err
	}
	if err := g.relocatable(source.path, dest.path); err != nil {
		return nil, nil, err
	}
	return source, dest, g.twoNames(source.path, dest.path, overwrite, pre, twoNamesVerb{g.rename, true})
}

// Copy makes a copy of a file or a tree, and merges a directory into one that is there. Contents are shared, so it takes
// no space. The size of a file counts as if it were written.
func (g *Guard) Copy(from, to string, overwrite bool, pre Precondition) (source, dest *Node, err error) {
	if source, dest, err = g.ends(from, to, policy.Read, Follow); err != nil {
		return nil, nil, err
	}
	if err := g.copyable(source.path); err != nil {
		return nil, nil, err
	}
	if err := g.relocatable(source.path, dest.path); err != nil {
		return nil, nil, err
	}

	g.grown = true
	return source, dest, g.twoNames(source.path, dest.path, overwrite, pre, twoNamesVerb{g.tx.Copy, false})
}

// ends resolves the two names of a move or a copy. The policy is asked whether the source may leave its path.
func (g *Guard) ends(from, to string, perm policy.Permission, follow bool) (source, dest *Node, err error) {
	source, dest = &Node{perm: perm}, &Node{perm: policy.Write}
	if source.path, err = g.tree(from, perm, follow); err != nil {
		return nil, nil, err
	}
	if dest.path, err = g.tree(to, policy.Write, Keep); err != nil {
		return nil, nil, err
	}
	return source, dest, g.released(source.path)
}

// Relocatable refuses a move where one end holds the other, before anything is made or displaced.
func (g *Guard) Relocatable(source, dest *Node) error { return g.relocatable(source.path, dest.path) }

// relocatable does what Relocatable does, for resolved paths.
func (g *Guard) relocatable(source, dest string) error {
	if dest != source && policy.Under(dest, source) {
		return fmt.Errorf("'%s' is inside '%s': %w", policy.Rooted(dest), policy.Rooted(source), syscall.EINVAL)
	}
	return nil
}

// copyable refuses a copy of files beyond the policy's sizes.
func (g *Guard) copyable(source string) error {
	if g.box.policy.MaxFileSize <= 0 && g.box.policy.MaxWriteSize <= 0 {
		return nil
	}
	info, err := g.tx.Lstat(source)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return g.writable(source, info.Size())
	}
	return g.walkDir(source, func(n *Node) (bool, error) { return true, g.writable(n.path, n.info.Size()) })
}

// rename renames and leaves nothing behind. If both names show one file already, the first is removed.
func (g *Guard) rename(from, to string, opts ...vfs.Option) error {
	if err := g.tx.Rename(from, to, opts...); err != nil || from == to {
		return err
	}
	_, err := g.tx.Lstat(from)
	switch {
	case Missing(err):
		return nil
	case err != nil:
		return err
	}
	return g.tx.Remove(from)
}

// A twoNamesVerb is a verb of two resolved names, such as a copy.
type twoNamesVerb struct {
	run   func(from, to string, opts ...vfs.Option) error
	moves bool // nothing stays at the first name
}

// twoNames runs a verb of two resolved names.
func (g *Guard) twoNames(source, dest string, overwrite bool, pre Precondition, verb twoNamesVerb) error {
	opts, err := pre.options()
	if err != nil {
		return err
	}
	if err := g.hasParent(dest); err != nil {
		return err
	}
	if !overwrite {
		return verb.run(source, dest, append(opts, vfs.NoReplace())...)
	}
	return g.replace(source, dest, opts, verb)
}

// replace runs a verb whose second name may exist. A file replaces a file. A directory is merged into a directory:
// files of the same name are replaced, and others stay. A directory and a file do not replace each other.
func (g *Guard) replace(source, dest string, opts []vfs.Option, verb twoNamesVerb) error {
	from, err := g.tx.Lstat(source)
	if err != nil {
		return err
	}
	to, err := g.tx.Lstat(dest)
	switch {
	case Missing(err), err == nil && (source == dest || !from.IsDir() && !to.IsDir()):
		return verb.run(source, dest, opts...)
	case err != nil:
		return err
	case !from.IsDir():
		return Refuse(syscall.EISDIR, "'%s' is a directory and '%s' is not: give a path in it as the destination, or remove it first", policy.Rooted(dest), policy.Rooted(source))
	case !to.IsDir():
		return Refuse(syscall.ENOTDIR, "'%s' is no directory and '%s' is one: choose another destination, or remove it first", policy.Rooted(dest), policy.Rooted(source))
	case policy.Under(source, dest):
		return fmt.Errorf("'%s' is inside '%s': %w", policy.Rooted(source), policy.Rooted(dest), syscall.EINVAL)
	case len(opts) > 0:
		return Refuse(syscall.EISDIR, "'%s' is a directory, and only a file has a sum", policy.Rooted(source))
	}

	return g.merge(source, dest, verb)
}

// merge runs a verb on all that is in a directory, into another one. A move leaves the first one empty, and takes it
// away.
func (g *Guard) merge(source, dest string, verb twoNamesVerb) error {
	for e, err := range g.entries(source, "") {
		if err == nil {
			err = g.ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := g.replace(below(source, e.Name()), below(dest, e.Name()), nil, verb); err != nil {
			return err
		}
	}

	if !verb.moves {
		return nil
	}
	return g.tx.Remove(source)
}

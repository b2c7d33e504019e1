package tool

import (
	"fmt"
	"syscall"

	"vfsdb/vfs"
)

// Move gives something another name, and merges a directory into one that is there. Both ends are the policy's business, and so is all that moves with a directory.
func (g *Guard) Move(from, to string, overwrite bool, pre Precondition) (source, dest string, err error) {
	if source, err = g.tree(from, PermWrite, Keep); err != nil {
		return "", "", err
	}
	if dest, err = g.tree(to, PermWrite, Keep); err != nil {
		return "", "", err
	}
	if err := g.released(source); err != nil {
		return "", "", err
	}
	if err := g.Relocatable(source, dest); err != nil {
		return "", "", err
	}
	return source, dest, g.twoNames(source, dest, overwrite, pre, twoNamesVerb{g.rename, true})
}

// Copy makes a copy of a file or a tree, and merges a directory into one that is there; contents are shared, so it costs no space. A file's size counts as if it were
// written.
func (g *Guard) Copy(from, to string, overwrite bool, pre Precondition) (source, dest string, err error) {
	if source, err = g.tree(from, PermRead, Follow); err != nil {
		return "", "", err
	}
	if dest, err = g.tree(to, PermWrite, Keep); err != nil {
		return "", "", err
	}
	if err := g.released(source); err != nil {
		return "", "", err
	}
	if err := g.copyable(source); err != nil {
		return "", "", err
	}
	if err := g.Relocatable(source, dest); err != nil {
		return "", "", err
	}
	g.grown = true
	return source, dest, g.twoNames(source, dest, overwrite, pre, twoNamesVerb{g.Tx.Copy, false})
}

// Relocatable refuses two ends of which one holds the other, before anything is displaced.
func (g *Guard) Relocatable(source, dest string) error {
	if dest != source && Under(dest, source) {
		return fmt.Errorf("'%s' is inside '%s': %w", Rooted(dest), Rooted(source), syscall.EINVAL)
	}
	return nil
}

// copyable refuses a copy of files beyond the policy's sizes.
func (g *Guard) copyable(source string) error {
	if g.Box.Policy.MaxFileSize <= 0 && g.Box.Policy.MaxWriteSize <= 0 {
		return nil
	}
	info, err := g.Tx.Lstat(source)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return g.Writable(source, info.Size())
	}
	return g.WalkDir(source, 1, func(n *Node, _ int) (bool, error) { return true, g.Writable(n.Path, n.Info.Size()) })
}

// rename is a rename that leaves nothing behind: of two names of one file, too, the first goes.
func (g *Guard) rename(from, to string, opts ...vfs.Option) error {
	if err := g.Tx.Rename(from, to, opts...); err != nil || from == to {
		return err
	}
	_, err := g.Tx.Lstat(from)
	switch {
	case Missing(err):
		return nil
	case err != nil:
		return err
	}
	return g.Tx.Remove(from)
}

// A twoNamesVerb is a verb of two resolved names, such as a copy.
type twoNamesVerb struct {
	run   func(from, to string, opts ...vfs.Option) error
	moves bool // nothing stays at the first
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

// replace runs a verb on what may be there already. A file takes the place of a file. A directory takes the place of
// none: what is in it goes into the one that is there, where files of the same name are replaced and others stay. A
// directory and a file do not take each other's place.
func (g *Guard) replace(source, dest string, opts []vfs.Option, verb twoNamesVerb) error {
	from, err := g.Tx.Lstat(source)
	if err != nil {
		return err
	}
	to, err := g.Tx.Lstat(dest)
	switch {
	case Missing(err), err == nil && (source == dest || !from.IsDir() && !to.IsDir()):
		return verb.run(source, dest, opts...)
	case err != nil:
		return err
	case !from.IsDir():
		return Refuse(syscall.EISDIR, "'%s' is a directory and '%s' is not: give a path in it as the destination, or remove it first", Rooted(dest), Rooted(source))
	case !to.IsDir():
		return Refuse(syscall.ENOTDIR, "'%s' is no directory and '%s' is one: choose another destination, or remove it first", Rooted(dest), Rooted(source))
	case Under(source, dest):
		return fmt.Errorf("'%s' is inside '%s': %w", Rooted(source), Rooted(dest), syscall.EINVAL)
	case len(opts) > 0:
		return Refuse(syscall.EISDIR, "'%s' is a directory, and only a file has a sum", Rooted(source))
	}
	return g.merge(source, dest, verb)
}

// merge runs a verb on all that is in a directory, into another one. A move leaves the first one empty, and takes it
// away.
func (g *Guard) merge(source, dest string, verb twoNamesVerb) error {
	for after := ""; ; {
		page, err := g.Tx.ReadDirPage(source, after, pageSize)
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := g.Ctx.Err(); err != nil {
				return err
			}
			after = e.Name()
			if err := g.replace(below(source, after), below(dest, after), nil, verb); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			break
		}
	}
	if !verb.moves {
		return nil
	}
	return g.Tx.Remove(source)
}

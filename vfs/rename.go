package vfs

import (
	"context"
	"syscall"

	"vfsdb/node"
)

// Rename moves a file or directory in one step. A file replaces a file, a directory an empty directory; one with
// entries is ENOTEMPTY. Two names of one file stay as they are. A directory into itself is EINVAL, the root EBUSY.
// Options: NoReplace, IfSum (of the file that is moved), Parents.
func (tx *Tx) Rename(from, to string, opts ...Option) error {
	return linkErr("rename", from, to, tx.renamePath(from, to, opts))
}

func (tx *Tx) renamePath(from, to string, opts []Option) error {
	o, err := gather(opts, optIfSum|optNoReplace|optParents)
	if err != nil {
		return err
	}
	if err := tx.writable(); err != nil {
		return err
	}

	// The directories of both names come before the names themselves, as on Linux.
	src, longSrc, err := tx.walkParent(from)
	if err != nil {
		return o.gone(err)
	}
	if o.has(optParents) && src.ino != 0 {
		if err := tx.parents(to); err != nil {
			return err
		}
	}
	dst, longDst, err := tx.walkParent(to)
	switch {
	case err != nil:
		return err // before what is at from counts, as on Linux
	case src.base == "" || dst.base == "" || src.up || dst.up:
		return syscall.EBUSY
	case longSrc:
		return syscall.ENAMETOOLONG
	}

	n, err := tx.at(src)
	switch {
	case err != nil:
		return o.gone(err)
	case longDst:
		return syscall.ENAMETOOLONG
	}

	moved, target := src.entry(), dst.entry()
	if _, _, err := tx.tree().CheckRename(moved, target); err != nil {
		return err
	}
	if err := tx.holds(o, n.Ino); err != nil {
		return err
	}
	if dst.ino != 0 && o.has(optNoReplace) {
		return syscall.EEXIST
	}
	return tx.tree().Rename(moved, target)
}

// walkParent is walk for a name that may be too long. That counts only once the directories of both names are found, as
// on Linux.
func (tx *Tx) walkParent(name string) (p place, long bool, err error) {
	dir, base := splitLast(name)
	if long = len(base) > node.MaxName && len(name) <= node.MaxPath; long {
		name = dir + base[:node.MaxName]
	}
	p, err = tx.walk(name, false)
	return p, long, err
}

// Rename moves a file or directory to a new name, see [Tx.Rename].
func (fsys *FS) Rename(ctx context.Context, from, to string, opts ...Option) error {
	return linkErr("rename", from, to, fsys.join(ctx, 0, func(tx *Tx) error { return tx.Rename(from, to, opts...) }))
}

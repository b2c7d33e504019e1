package vfs

import (
	"context"
	"slices"
	"syscall"

	"vfsdb/journal"
)

// Rename moves a file or directory to a new name, in one step that no reader sees half of. What had the new name is
// replaced if it is of the same sort: a directory only by a directory, and only an empty one (ENOTEMPTY). Two names of
// one file stay as they are. A directory into itself is EINVAL, the root EBUSY. Options: NoReplace, IfSum (of what is
// moved), Parents.
func (tx *Tx) Rename(from, to string, opts ...Option) error {
	return linkErr("rename", from, to, tx.rename(from, to, opts))
}

func (tx *Tx) rename(from, to string, opts []Option) error {
	o, err := gather(opts, optIfSum|optNoReplace|optParents)
	if err != nil {
		return err
	}
	if err := tx.writable(); err != nil {
		return err
	}
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
	case n.isDir() && slices.Contains(dst.chain, n.ino):
		return syscall.EINVAL
	case slices.Contains(src.chain, dst.ino) && dst.ino != 0:
		return syscall.ENOTEMPTY
	}
	if err := tx.holds(o, n.ino); err != nil {
		return err
	}
	if dst.ino != 0 {
		if o.has(optNoReplace) {
			return syscall.EEXIST
		}
		if dst.ino == src.ino {
			return nil
		}
	}
	displaced, err := tx.displace(dst, n)
	if err != nil {
		return err
	}
	return tx.renameTo(src, dst, n, displaced)
}

// walkParent is walk for a name that may be too long. That counts only once the directories of both names are found, as
// on Linux.
func (tx *Tx) walkParent(name string) (p place, long bool, err error) {
	dir, base := splitLast(name)
	if long = len(base) > maxName && len(name) <= maxPath; long {
		name = dir + base[:maxName]
	}
	p, err = tx.walk(name, false)
	return p, long, err
}

// renameTo moves n to its place, and records it.
func (tx *Tx) renameTo(src, dst place, n, displaced *inode) error {
	c := change{Change: journal.Change{Op: "rename"}}
	var err error
	if displaced != nil {
		if c, err = tx.loss("rename", displaced); err != nil {
			return err
		}
	}
	if displaced != nil {
		if c.After, err = tx.sumOf(n); err != nil {
			return err
		}
	}
	if c.Arg, err = tx.fromBranch(src.path()); err != nil {
		return err
	}
	if err := tx.move(src, dst, n, displaced); err != nil {
		return err
	}
	return tx.recordAt(dst, c)
}

// displace checks that n may take the place of what is at dst, and returns that; nil if there is nothing.
func (tx *Tx) displace(dst place, n *inode) (*inode, error) {
	if dst.ino == 0 {
		return nil, nil
	}
	old, err := tx.inode(dst.ino)
	switch {
	case err != nil:
		return nil, err
	case old == nil:
		return nil, corrupt("entry %q of directory %d shows inode %d, which is missing", dst.base, dst.dir, dst.ino)
	case n.isDir() && !old.isDir():
		return nil, syscall.ENOTDIR
	case !n.isDir() && old.isDir():
		return nil, syscall.EISDIR
	case old.isDir():
		return old, tx.checkEmpty(old.ino)
	}
	return old, nil
}

// move puts the new name, then drops the old, then counts the displaced link: in this order no moment within the
// transaction shows n under no name.
func (tx *Tx) move(src, dst place, n, displaced *inode) error {
	from, err := tx.parent(src)
	if err != nil {
		return err
	}
	to, err := tx.parent(dst)
	if err != nil {
		return err
	}
	if err := tx.putDirent(dst.dir, dst.base, n.ino, n.kind()); err != nil {
		return err
	}
	if err := tx.dropDirent(src.dir, src.base); err != nil {
		return err
	}
	if n.isDir() {
		tx.cache.moves++
	}
	tx.modified(from)
	tx.modified(to)
	tx.change(n)
	if displaced == nil {
		return nil
	}
	return tx.unref(displaced)
}

// Rename moves a file or directory to a new name, see [Tx.Rename].
func (fsys *FS) Rename(ctx context.Context, from, to string, opts ...Option) error {
	return linkErr("rename", from, to, fsys.join(ctx, 0, func(tx *Tx) error { return tx.Rename(from, to, opts...) }))
}

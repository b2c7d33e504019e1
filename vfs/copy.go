package vfs

import (
	"context"
	"slices"
	"syscall"

	"vfsdb/journal"
)

// Copy makes to a copy of from: a file, a symlink or a whole directory. Content is shared, so no byte of it is written;
// the copy has the source's permissions, owner and modification time. Two names of one file become two names of one
// copy. An existing file is replaced, a directory is not (EEXIST, ENOTEMPTY, EISDIR or ENOTDIR). A directory into
// itself, or onto itself, is EINVAL; a file onto itself stays as it is. Options: NoReplace, IfSum (of the source), Parents.
func (tx *Tx) Copy(from, to string, opts ...Option) error {
	return linkErr("copy", from, to, tx.copyTree(from, to, opts))
}

func (tx *Tx) copyTree(from, to string, opts []Option) error {
	o, err := gather(opts, optIfSum|optNoReplace|optParents)
	if err != nil {
		return err
	}
	if err := tx.writable(); err != nil {
		return err
	}
	src, n, err := tx.find(from, false)
	if err != nil {
		return o.gone(err)
	}
	if err := tx.holds(o, n.ino); err != nil {
		return err
	}
	if o.has(optParents) {
		if err := tx.parents(to); err != nil {
			return err
		}
	}
	dst, err := tx.walk(to, false)
	switch {
	case err != nil:
		return err
	case n.isDir() && (dst.ino == n.ino || slices.Contains(dst.chain, n.ino)):
		return syscall.EINVAL
	case dst.ino == 0:
		return tx.copyTo(src, dst, n, nil)
	case o.has(optNoReplace):
		return syscall.EEXIST
	case dst.ino == n.ino:
		return nil
	}
	old, err := tx.displace(dst, n)
	if err != nil {
		return err
	}
	if n.isDir() {
		return syscall.EEXIST
	}
	return tx.copyTo(src, dst, n, old)
}

// copyTo copies n to its place, where old gives way.
func (tx *Tx) copyTo(src, dst place, n, old *inode) (err error) {
	c := copier{tx: tx, made: make(map[Ino]*inode), below: new(entered)}
	for _, dir := range dst.chain {
		c.below.add(dir) // the copy would be part of what is copied
	}
	if old != nil {
		if c.lost, err = tx.loss("copy", old); err != nil {
			return err
		}
		if err := tx.unlink(dst, old); err != nil {
			return err
		}
		dst.ino = 0
	}
	from, err := tx.fromBranch(src.path())
	if err != nil {
		return err
	}
	to, err := tx.fromBranch(dst.path())
	if err != nil {
		return err
	}
	return c.copy(n, dst, from, to)
}

// A copier makes a copy of a tree.
type copier struct {
	tx    *Tx
	made  map[Ino]*inode // the copy of a file with several names
	below *entered       // directories that were copied
	lost  change         // of the file that the copy replaces
}

// copy copies n, which stands at the path from, to a place, which is the path as.
func (c copier) copy(n *inode, to place, from, as string) error {
	if made := c.made[n.ino]; made != nil {
		if err := c.tx.linkAt(to, made); err != nil {
			return err
		}
		return c.record(n, from, as, 0)
	}
	made := &inode{
		mode: n.mode, uid: n.uid, gid: n.gid, rdev: n.rdev, mtime: n.mtime, content: n.content, target: n.target,
	}
	if err := c.tx.create(to, made); err != nil {
		return err
	}
	if err := c.record(n, from, as, n.content.Size); err != nil {
		return err
	}
	if n.nlink > 1 {
		c.made[n.ino] = made
	}
	if !n.isDir() {
		return nil
	}
	if !c.below.add(n.ino) {
		return errBelowItself(n.ino)
	}
	if err := c.copyEntries(n.ino, made.ino, from, as); err != nil {
		return err
	}
	made.mtime = n.mtime // filling it changed that
	c.tx.change(made)
	return nil
}

func (c copier) record(n *inode, from, as string, size int64) error {
	after, err := c.tx.sumOf(n)
	if err != nil {
		return err
	}
	made := change{Change: journal.Change{Op: "copy", Path: as, Arg: from, Before: c.lost.Before, Origin: c.lost.Origin, After: after, Grew: c.lost.Grew + size}}
	return c.tx.record(made)
}

func (c copier) copyEntries(from, to Ino, fromPath, toPath string) error {
	for after := ""; ; {
		if err := c.tx.db.Context().Err(); err != nil {
			return err
		}
		page, err := c.tx.page(from, after, pageSize)
		if err != nil {
			return err
		}
		for _, e := range page {
			n, err := c.tx.inode(e.ino)
			if err != nil {
				return err
			}
			if n == nil {
				return corrupt("entry %q of directory %d shows inode %d, which is missing", e.name, from, e.ino)
			}
			if err := c.copy(n, place{dir: to, base: e.name}, fromPath+"/"+e.name, toPath+"/"+e.name); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		after = page[len(page)-1].name
	}
}

// Copy makes to a copy of from that shares its content, see [Tx.Copy].
func (fsys *FS) Copy(ctx context.Context, from, to string, opts ...Option) error {
	return linkErr("copy", from, to, fsys.Update(ctx, func(tx *Tx) error { return tx.Copy(from, to, opts...) }))
}

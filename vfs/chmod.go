package vfs

import (
	"context"
	"io/fs"
	"syscall"
	"time"

	"vfsdb/journal"
	"vfsdb/node"
)

// Chmod sets the 12 permission bits of a file, following symlinks.
func (tx *Tx) Chmod(name string, mode fs.FileMode, opts ...Option) error {
	return pathErr("chmod", name, tx.setAttrs(journal.OpChmod, name, true, opts, func(n *node.Node) { setMode(n, mode) }))
}

// Chown stores a user and a group, which are never enforced; -1 leaves one as it is. A number beyond 32 bits is
// EINVAL.
func (tx *Tx) Chown(name string, uid, gid int, opts ...Option) error {
	return pathErr("chown", name, tx.chown(name, true, uid, gid, opts))
}

// Lchown is Chown, but of a symlink itself.
func (tx *Tx) Lchown(name string, uid, gid int, opts ...Option) error {
	return pathErr("lchown", name, tx.chown(name, false, uid, gid, opts))
}

// Chtimes sets the modification time, in nanoseconds from 1678 to 2261; others become the nearest of these. A zero
// time leaves it. atime is not kept.
func (tx *Tx) Chtimes(name string, atime, mtime time.Time, opts ...Option) error {
	return pathErr("chtimes", name, tx.setAttrs(journal.OpChtimes, name, true, opts, setTime(mtime)))
}

// Lchtimes is Chtimes, but of a symlink itself.
func (tx *Tx) Lchtimes(name string, atime, mtime time.Time, opts ...Option) error {
	return pathErr("lchtimes", name, tx.setAttrs(journal.OpChtimes, name, false, opts, setTime(mtime)))
}

func setMode(n *node.Node, mode fs.FileMode) { n.Mode = n.Mode&^node.PermBits | node.UnixPerm(mode) }

func (tx *Tx) chown(name string, follow bool, uid, gid int, opts []Option) error {
	for _, id := range []int{uid, gid} {
		if id != int(int32(id)) && int64(id) != int64(uint32(id)) {
			return syscall.EINVAL
		}
	}
	return tx.setAttrs(journal.OpChown, name, follow, opts, setOwner(uid, gid))
}

func setOwner(uid, gid int) func(*node.Node) {
	return func(n *node.Node) {
		if uid != -1 {
			n.Uid = uint32(uid)
		}
		if gid != -1 {
			n.Gid = uint32(gid)
		}
	}
}

func setTime(mtime time.Time) func(*node.Node) {
	return func(n *node.Node) {
		if !mtime.IsZero() {
			n.Mtime = node.Nanos(mtime)
		}
	}
}

// setAttrs is setAttr for a path.
func (tx *Tx) setAttrs(op journal.Op, name string, follow bool, opts []Option, set func(*node.Node)) error {
	o, err := gather(opts, optIfSum)
	if err != nil {
		return err
	}
	if err := tx.writable(); err != nil {
		return err
	}
	p, n, err := tx.find(name, follow)
	if err != nil {
		return o.gone(err)
	}
	if err := tx.holds(o, n.Ino); err != nil {
		return err
	}
	return tx.tree().SetAttr(p.entry(), op, set)
}

// Chmod sets the 12 permission bits of a file, see [Tx.Chmod].
func (fsys *FS) Chmod(ctx context.Context, name string, mode fs.FileMode, opts ...Option) error {
	return fsys.update(ctx, "chmod", name, func(tx *Tx) error { return tx.Chmod(name, mode, opts...) })
}

// Chown stores a user and a group, see [Tx.Chown].
func (fsys *FS) Chown(ctx context.Context, name string, uid, gid int, opts ...Option) error {
	return fsys.update(ctx, "chown", name, func(tx *Tx) error { return tx.Chown(name, uid, gid, opts...) })
}

// Lchown is Chown, but of a symlink itself.
func (fsys *FS) Lchown(ctx context.Context, name string, uid, gid int, opts ...Option) error {
	return fsys.update(ctx, "lchown", name, func(tx *Tx) error { return tx.Lchown(name, uid, gid, opts...) })
}

// Chtimes sets the modification time, see [Tx.Chtimes].
func (fsys *FS) Chtimes(ctx context.Context, name string, atime, mtime time.Time, opts ...Option) error {
	return fsys.update(ctx, "chtimes", name, func(tx *Tx) error { return tx.Chtimes(name, atime, mtime, opts...) })
}

package vfs

import (
	"context"
	"io/fs"
	"syscall"

	"vfsdb/node"
)

// Link gives a file or a symlink a second name. A directory is EPERM; a new name that exists is EEXIST.
func (tx *Tx) Link(from, to string, opts ...Option) error {
	return linkErr("link", from, to, tx.hardLink(from, to, opts))
}

func (tx *Tx) hardLink(from, to string, opts []Option) error {
	o, err := gather(opts, optIfSum|optIfAbsent|optParents)
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
	if o.has(optIfSum) {
		if err := tx.holds(o, n.Ino); err != nil {
			return err
		}
	}

	if o.has(optParents) {
		if err := tx.parents(to); err != nil {
			return err
		}
	}
	p, err := tx.newPlace(to, options{set: o.set &^ optIfSum})
	if err != nil {
		return err
	}
	return tx.tree().Link(src.entry(), p.entry())
}

// Symlink creates a symlink to target, which need not exist: 1 to 4096 bytes (ENOENT, ENAMETOOLONG), kept as given.
func (tx *Tx) Symlink(target, name string, opts ...Option) error {
	return linkErr("symlink", target, name, tx.symlink(target, name, opts))
}

func (tx *Tx) symlink(target, name string, opts []Option) error {
	o, err := gather(opts, optIfAbsent|optParents)
	if err != nil {
		return err
	}
	n := tx.tree().NewNode(node.ModeLink | 0o777)
	n.Target = target
	if err := node.CheckTarget(n); err != nil {
		return err
	}
	if o.has(optParents) {
		if err := tx.parents(name); err != nil {
			return err
		}
	}
	p, err := tx.newPlace(name, o)
	if err != nil {
		return err
	}
	return tx.tree().Create(p.entry(), n, Sum{})
}

// Readlink returns where a symlink points. Anything else is EINVAL.
func (tx *Tx) Readlink(name string) (string, error) {
	target, err := tx.readlink(name)
	return target, pathErr("readlink", name, err)
}

func (tx *Tx) readlink(name string) (string, error) {
	_, n, err := tx.find(name, false)
	if err != nil {
		return "", err
	}
	if n.Kind() != node.KindLink {
		return "", syscall.EINVAL
	}
	return n.Target, nil
}

// Mknod creates a fifo, socket or device: a record of its type, permissions and number. Another type is EINVAL.
func (tx *Tx) Mknod(name string, mode fs.FileMode, rdev uint64, opts ...Option) error {
	return pathErr("mknod", name, tx.mknod(name, mode, rdev, opts))
}

func (tx *Tx) mknod(name string, mode fs.FileMode, rdev uint64, opts []Option) error {
	o, err := gather(opts, optIfAbsent)
	if err != nil {
		return err
	}
	kind := node.ModeKind(mode)
	if kind == node.KindDir || kind == node.KindFile || kind == node.KindLink {
		return syscall.EINVAL
	}
	p, err := tx.newPlace(name, o)
	if err != nil {
		return err
	}
	n := tx.tree().NewNode(uint32(kind)<<12 | node.UnixPerm(mode))
	n.Rdev = int64(rdev)
	return tx.tree().Create(p.entry(), n, Sum{})
}

// Link gives a file a second name, see [Tx.Link].
func (fsys *FS) Link(ctx context.Context, from, to string, opts ...Option) error {
	return linkErr("link", from, to, fsys.join(ctx, 0, func(tx *Tx) error { return tx.Link(from, to, opts...) }))
}

// Symlink creates a symlink, see [Tx.Symlink].
func (fsys *FS) Symlink(ctx context.Context, target, name string, opts ...Option) error {
	return linkErr("symlink", target, name, fsys.join(ctx, 0, func(tx *Tx) error { return tx.Symlink(target, name, opts...) }))
}

// Readlink returns where a symlink points. Anything else is EINVAL.
func (fsys *FS) Readlink(ctx context.Context, name string) (target string, err error) {
	err = fsys.view(ctx, "readlink", name, func(tx *Tx) (err error) {
		target, err = tx.Readlink(name)
		return err
	})
	return target, err
}

package vfs

import (
	"cmp"
	"context"
	"io/fs"
	"syscall"

	"vfsdb/node"
)

// Mkdir creates a directory. The parent must exist, the name not (EEXIST).
func (tx *Tx) Mkdir(name string, perm fs.FileMode, opts ...Option) error {
	return pathErr("mkdir", name, tx.mkdir(name, perm, opts))
}

func (tx *Tx) mkdir(name string, perm fs.FileMode, opts []Option) error {
	o, err := gather(opts, optIfAbsent|optParents)
	if err != nil {
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
	return tx.tree().Create(p.entry(), tx.tree().NewNode(node.ModeDir|node.UnixPerm(perm)), Sum{})
}

// MkdirAll creates a directory and what is missing above it. An existing one is fine; a file in the way is ENOTDIR, a
// dangling symlink EEXIST.
func (tx *Tx) MkdirAll(name string, perm fs.FileMode) error {
	return pathErr("mkdir", name, tx.mkdirAll(name, perm))
}

func (tx *Tx) mkdirAll(name string, perm fs.FileMode) error {
	if err := tx.writable(); err != nil {
		return err
	}

	p, err := tx.walk(name, true)
	switch {
	case err == nil && p.kind == node.KindDir:
		return nil
	case err == nil && p.ino != 0:
		return syscall.ENOTDIR
	case err != nil && err != syscall.ENOENT || name == "":
		return err
	case err != nil:
		dir, base := splitLast(name)
		if dir == "" || base == "" {
			return cmp.Or(tx.checkRoot(), error(syscall.EEXIST)) // a symlink to nowhere
		}
		if err := tx.mkdirAll(dir, perm); err != nil {
			return err
		}
	}

	// The directories above exist now.
	if p, err = tx.walk(name, false); err != nil {
		return err
	}
	switch {
	case p.kind == node.KindDir && p.ino != 0: // made on the way, as by "a/../b"
		return nil
	case p.ino != 0:
		return syscall.EEXIST // a symlink to nowhere
	}
	return tx.tree().Create(p.entry(), tx.tree().NewNode(node.ModeDir|node.UnixPerm(perm)), Sum{})
}

// newPlace walks to a name that must not exist yet, and must have a directory to stand in. With IfAbsent a name that
// exists is a precondition that does not hold.
func (tx *Tx) newPlace(name string, o options) (place, error) {
	if err := tx.writable(); err != nil {
		return place{}, err
	}
	p, err := tx.walk(name, false)
	if err != nil || p.ino == 0 {
		return p, err
	}
	if o.has(optIfAbsent) {
		return p, tx.holds(o, p.ino)
	}
	return p, syscall.EEXIST
}

// parents makes the directories above the last segment of name.
func (tx *Tx) parents(name string) error {
	dir, base := splitLast(name)
	if dir == "" || base == "" {
		return nil
	}
	return tx.mkdirAll(dir, 0o755)
}

// Mkdir creates a directory, see [Tx.Mkdir].
func (fsys *FS) Mkdir(ctx context.Context, name string, perm fs.FileMode, opts ...Option) error {
	return fsys.update(ctx, "mkdir", name, func(tx *Tx) error { return tx.Mkdir(name, perm, opts...) })
}

// MkdirAll creates a directory and those above it, see [Tx.MkdirAll].
func (fsys *FS) MkdirAll(ctx context.Context, name string, perm fs.FileMode) error {
	return fsys.update(ctx, "mkdir", name, func(tx *Tx) error { return tx.MkdirAll(name, perm) })
}

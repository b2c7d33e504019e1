package vfs

import (
	"context"
	"syscall"
)

// Remove removes a file, a symlink or an empty directory. A directory with entries is ENOTEMPTY, the root EPERM.
// Option: IfSum.
func (tx *Tx) Remove(name string, opts ...Option) error {
	return pathErr("remove", name, tx.remove(name, opts))
}

func (tx *Tx) remove(name string, opts []Option) error {
	o, err := gather(opts, optIfSum)
	if err != nil {
		return err
	}
	p, err := tx.removable(name)
	if err != nil {
		return o.gone(err)
	}
	if err := tx.holds(o, p.ino); err != nil {
		return err
	}
	return tx.tree().Unlink(p.entry())
}

// removable walks to something that may lose its name.
func (tx *Tx) removable(name string) (place, error) {
	if err := tx.writable(); err != nil {
		return place{}, err
	}
	p, _, err := tx.find(name, false)
	switch {
	case err != nil:
	case p.ino == tx.tree().Root():
		err = syscall.EPERM
	case p.up:
		err = syscall.ENOTEMPTY
	}
	return p, err
}

// RemoveAll removes what the path leads to, with all that is below; nothing there is fine, the root is EPERM. It takes
// as long for any size, unless a file below has a second name: the top loses its name, and gc does the rest.
func (tx *Tx) RemoveAll(name string, opts ...Option) error {
	return pathErr("removeall", name, tx.removeAll(name, opts))
}

func (tx *Tx) removeAll(name string, opts []Option) error {
	o, err := gather(opts, optIfSum)
	if err != nil {
		return err
	}
	p, err := tx.removable(name)
	switch {
	case err == syscall.ENOENT && name != "":
		return tx.holds(o, 0)
	case err != nil:
		return err
	}
	if err := tx.holds(o, p.ino); err != nil {
		return err
	}
	return tx.tree().RemoveTree(p.entry())
}

// Remove removes a file or an empty directory, see [Tx.Remove].
func (fsys *FS) Remove(ctx context.Context, name string, opts ...Option) error {
	return fsys.update(ctx, "remove", name, func(tx *Tx) error { return tx.Remove(name, opts...) })
}

// RemoveAll removes a tree, see [Tx.RemoveAll].
func (fsys *FS) RemoveAll(ctx context.Context, name string, opts ...Option) error {
	return pathErr("removeall", name, fsys.Update(ctx, func(tx *Tx) error { return tx.RemoveAll(name, opts...) }))
}

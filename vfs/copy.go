package vfs

import (
	"context"
	"syscall"
)

// Copy makes to a copy of from: a file, a symlink or a whole directory. They share content. The copy has the same
// permissions, owner and modification time; names of one file become names of one copy. A file is replaced, a
// directory is not (EEXIST, ENOTEMPTY, EISDIR or ENOTDIR). A directory onto or into itself is EINVAL; a file onto
// itself stays. Options: NoReplace, IfSum (of the source), Parents.
func (tx *Tx) Copy(from, to string, opts ...Option) error {
	return linkErr("copy", from, to, tx.copy(from, to, opts))
}

func (tx *Tx) copy(from, to string, opts []Option) error {
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
	if err := tx.holds(o, n.Ino); err != nil {
		return err
	}

	if o.has(optParents) {
		if err := tx.parents(to); err != nil {
			return err
		}
	}
	dst, err := tx.walk(to, false)
	if err != nil {
		return err
	}
	source, target := src.entry(), dst.entry()
	if _, _, err := tx.tree().CheckCopy(source, target); err != nil {
		return err
	}
	if dst.ino != 0 && o.has(optNoReplace) {
		return syscall.EEXIST
	}
	return tx.tree().CopyTree(source, target)
}

// Copy makes to a copy of from that shares its content, see [Tx.Copy].
func (fsys *FS) Copy(ctx context.Context, from, to string, opts ...Option) error {
	return linkErr("copy", from, to, fsys.Update(ctx, func(tx *Tx) error { return tx.Copy(from, to, opts...) }))
}

package vfs

import (
	"context"
	"path"
	"strings"

	"vfsdb/node"
)

// Stat describes the file that a path leads to, following symlinks.
func (tx *Tx) Stat(name string) (*Info, error) {
	info, err := tx.stat(name, true)
	return info, pathErr("stat", name, err)
}

// Lstat is Stat, but describes a symlink itself.
func (tx *Tx) Lstat(name string) (*Info, error) {
	info, err := tx.stat(name, false)
	return info, pathErr("lstat", name, err)
}

func (tx *Tx) stat(name string, follow bool) (*Info, error) {
	p, n, err := tx.find(name, follow)
	if err != nil {
		return nil, err
	}
	return node.NewInfo(p.name(tx, name), n), nil
}

// name is the last segment that the caller wrote: for a symlink that was followed it is the link's own.
func (p place) name(tx *Tx, asked string) string {
	if base := path.Base(asked); base != "." && base != ".." && base != "/" {
		return base
	}
	if p.ino == tx.tree().Root() {
		return ""
	}
	return p.base
}

// splitLast cuts a path before its last segment, without resolving anything.
func splitLast(name string) (dir, base string) {
	name = strings.TrimRight(name, "/")
	i := strings.LastIndexByte(name, '/')
	return name[:i+1], name[i+1:]
}

// Stat describes the file that a path leads to, following symlinks.
func (fsys *FS) Stat(ctx context.Context, name string) (info *Info, err error) {
	err = fsys.view(ctx, "stat", name, func(tx *Tx) (err error) {
		info, err = tx.Stat(name)
		return err
	})
	return info, err
}

// Lstat is Stat, but describes a symlink itself.
func (fsys *FS) Lstat(ctx context.Context, name string) (info *Info, err error) {
	err = fsys.view(ctx, "lstat", name, func(tx *Tx) (err error) {
		info, err = tx.Lstat(name)
		return err
	})
	return info, err
}

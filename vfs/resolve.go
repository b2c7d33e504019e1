package vfs

import (
	"context"
	"strings"
	"syscall"

	"vfsdb/node"
)

// Resolve returns the path from the root of the tree without symlinks, `..`, or a slash in front; "." is the root.
// With follow, as in ReadFile, a symlink at the end is followed; without, as in Remove, it is not. Segments that do
// not exist are appended as given, but `..` after one is ENOENT.
func (tx *Tx) Resolve(name string, follow bool) (string, error) {
	path, err := tx.resolve(name, follow)
	return path, pathErr("resolve", name, err)
}

func (tx *Tx) resolve(name string, follow bool) (string, error) {
	w, err := tx.walker(name, follow)
	if err != nil {
		return "", err
	}
	p, err := w.run()
	switch {
	case err == nil:
		return p.path(), nil
	case err != syscall.ENOENT || w.gap == "":
		return "", err
	}

	// The walk ended at a segment that does not exist. The rest of the path follows it as given.
	missing := append(w.names, w.gap)
	for seg := w.next(); seg != ""; seg = w.next() {
		switch {
		case seg == "..":
			return "", syscall.ENOENT
		case len(seg) > node.MaxName:
			return "", syscall.ENAMETOOLONG
		}
		missing = append(missing, seg)
	}
	return strings.Join(missing, "/"), nil
}

// Resolve returns the path without symlinks and `..`, see [Tx.Resolve].
func (fsys *FS) Resolve(ctx context.Context, name string, follow bool) (path string, err error) {
	err = fsys.view(ctx, "resolve", name, func(tx *Tx) (err error) {
		path, err = tx.Resolve(name, follow)
		return err
	})
	return path, err
}

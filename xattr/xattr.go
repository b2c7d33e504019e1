package xattr

import (
	"context"
	"errors"
	"io/fs"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// What happens to a symlink at the end of a path.
const (
	Follow   = true  // its target is meant
	NoFollow = false // it is meant itself, as by lgetxattr(2)
)

// Flags of [Set], with the numbers of setxattr(2).
const (
	Create  = tree.XattrCreate  // an attribute that exists is EEXIST
	Replace = tree.XattrReplace // one that does not exist is ENODATA
)

// Limits, in bytes: of a name, of a value, and of all attributes of a file as they are stored.
const (
	MaxName  = node.MaxXattrName
	MaxValue = node.MaxXattrValue
	MaxTotal = node.MaxXattrs
)

// List returns the names of the attributes of a file, sorted. There may be none.
func List(ctx context.Context, fsys *vfs.FS, name string, follow bool) (names []string, err error) {
	err = look(ctx, fsys, func(tx *vfs.Tx) (err error) {
		names, err = ListIn(tx, name, follow)
		return err
	})
	return names, pathErr("listxattr", name, err)
}

// ListIn is [List] as a part of a transaction.
func ListIn(tx *vfs.Tx, name string, follow bool) ([]string, error) {
	info, err := stat(tx, name, follow)
	if err != nil {
		return nil, pathErr("listxattr", name, err)
	}
	return info.Xattrs(), nil
}

// Get returns the value of an attribute of a file.
func Get(ctx context.Context, fsys *vfs.FS, name string, follow bool, attr string) (value []byte, err error) {
	err = look(ctx, fsys, func(tx *vfs.Tx) (err error) {
		value, err = GetIn(tx, name, follow, attr)
		return err
	})
	return value, pathErr("getxattr", name, err)
}

// GetIn is [Get] as a part of a transaction.
func GetIn(tx *vfs.Tx, name string, follow bool, attr string) ([]byte, error) {
	info, err := stat(tx, name, follow)
	if err != nil {
		return nil, pathErr("getxattr", name, err)
	}
	value, err := (*tree.Tx)(tx).Xattr(tree.Place{Ino: info.Ino()}, attr)
	return value, pathErr("getxattr", name, err)
}

// Set sets an attribute of a file, in one commit. flags may have [Create] or [Replace].
func Set(ctx context.Context, fsys *vfs.FS, name string, follow bool, attr string, value []byte, flags int) error {
	return pathErr("setxattr", name, join(ctx, fsys, len(value), func(tx *vfs.Tx) error {
		return SetIn(tx, name, follow, attr, value, flags)
	}))
}

// SetIn is [Set] as a part of a transaction.
func SetIn(tx *vfs.Tx, name string, follow bool, attr string, value []byte, flags int) error {
	p, err := placeOf(tx, name, follow)
	if err == nil {
		err = (*tree.Tx)(tx).SetXattr(p, attr, value, flags)
	}
	return pathErr("setxattr", name, err)
}

// Remove removes an attribute of a file, in one commit.
func Remove(ctx context.Context, fsys *vfs.FS, name string, follow bool, attr string) error {
	return pathErr("removexattr", name, join(ctx, fsys, 0, func(tx *vfs.Tx) error {
		return RemoveIn(tx, name, follow, attr)
	}))
}

// RemoveIn is [Remove] as a part of a transaction.
func RemoveIn(tx *vfs.Tx, name string, follow bool, attr string) error {
	p, err := placeOf(tx, name, follow)
	if err == nil {
		err = (*tree.Tx)(tx).RemoveXattr(p, attr)
	}
	return pathErr("removexattr", name, err)
}

func look(ctx context.Context, fsys *vfs.FS, fn func(*vfs.Tx) error) error {
	return (*tree.Tree)(fsys).Look(ctx, func(tx *tree.Tx) error { return fn((*vfs.Tx)(tx)) })
}

func join(ctx context.Context, fsys *vfs.FS, bytes int, fn func(*vfs.Tx) error) error {
	return (*tree.Tree)(fsys).Join(ctx, bytes, func(tx *tree.Tx) error { return fn((*vfs.Tx)(tx)) })
}

func stat(tx *vfs.Tx, name string, follow bool) (*vfs.Info, error) {
	if follow {
		return tx.Stat(name)
	}
	return tx.Lstat(name)
}

// placeOf returns the inode that a path leads to, and where it was found.
func placeOf(tx *vfs.Tx, name string, follow bool) (tree.Place, error) {
	info, err := stat(tx, name, follow)
	if err != nil {
		return tree.Place{}, err
	}
	path, err := tx.Resolve(name, follow)
	return tree.Place{Ino: info.Ino(), Path: path}, err
}

// pathErr gives an error this operation and this path in place of those that it may have.
func pathErr(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var named *fs.PathError
	if errors.As(err, &named) {
		err = named.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

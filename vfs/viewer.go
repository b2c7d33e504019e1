package vfs

import (
	"context"
	"errors"
	"syscall"

	"vfsdb/tree"
)

// A Viewer is a tree that can be searched.
//
// An [FS] is one: each View is a moment of its own, so a long search holds no moment of the file. A [Tx] is one: all of
// the search sees its one moment. Any other Viewer must be safe for concurrent use, as an FS is.
type Viewer interface {
	View(ctx context.Context, fn func(*Tx) error) error
}

// errStop ends a search early, without an error.
var errStop = errors.New("stop here")

// start walks to where a search begins. The path of the result has no symlink in it, and no "..".
func start(ctx context.Context, v Viewer, name string, follow bool) (at *entry, err error) {
	err = v.View(ctx, func(tx *Tx) (err error) {
		at, err = locate(tx, name, follow)
		return err
	})
	return at, err
}

// startDir is start for a directory: anything else is ENOTDIR.
func startDir(ctx context.Context, v Viewer, name string) (*entry, error) {
	at, err := start(ctx, v, name, true)
	if err == nil && at.Kind != tree.KindDir {
		err = syscall.ENOTDIR
	}
	return at, err
}

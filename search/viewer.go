package search

import (
	"context"
	"errors"
	"io/fs"

	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Viewer is a tree that can be searched.
//
// A [vfs.FS] is one: each View is a moment of its own, so a long search holds no moment of the file. A [vfs.Tx] is one:
// all of the search sees its one moment. Any other Viewer must be safe for concurrent use, as an FS is.
type Viewer interface {
	View(ctx context.Context, fn func(*vfs.Tx) error) error
}

// view runs fn on a moment of a tree, by number.
func view(ctx context.Context, v Viewer, fn func(*tree.Tx) error) error {
	return v.View(ctx, func(tx *vfs.Tx) error { return fn((*tree.Tx)(tx)) })
}

// errStop ends a search early, without an error.
var errStop = errors.New("stop here")

// pathErr names the search and the path of an error, once.
func pathErr(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*fs.PathError); ok {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// bare takes a verb and its path off an error, so that the search can name its own.
func bare(err error) error {
	var named *fs.PathError
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}

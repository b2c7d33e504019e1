package search

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"vfsdb/node"
)

// List returns the paths of all files at or under a path, sorted, in the form of io/fs. Everything that is not a
// directory is a file here, a symlink too, which is not followed below the path. A path counts by whole segments and no
// character in it is special: "notes" does not find "notes-old/x". "" is the root. If nothing is there the list
// is empty, without an error.
//
// On a [vfs.FS], each page of a directory is a moment of its own.
func List(ctx context.Context, v Viewer, path string) ([]string, error) {
	paths, err := filesUnder(ctx, v, path)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, pathErr("list", path, err)
	}
	slices.Sort(paths)
	return paths, nil
}

func filesUnder(ctx context.Context, v Viewer, path string) ([]string, error) {
	if path == "" {
		path = "/"
	}
	at, err := startDir(ctx, v, path)
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ELOOP) {
		// At a link that does not lead to a directory, the link itself is what is there.
		at, err = start(ctx, v, path, false)
	}
	if err != nil {
		return nil, err
	}
	if at.Kind != node.KindDir {
		return []string{at.path}, nil
	}

	var paths []string
	w := treeWalk{ctx: ctx, viewer: v, visit: func(e *entry) (bool, error) {
		if e.Kind != node.KindDir {
			paths = append(paths, e.path)
		}
		return true, nil
	}}
	err = w.below(at)
	return paths, err
}

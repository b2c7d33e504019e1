package patch

import (
	"context"
	"io/fs"
	"iter"
	"syscall"

	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Pair yields how a file of tree a differs from one of tree b that has another name, as git diff does for two of its objects:
// at most one File, whose From is the name in a. The file is no rename, so git apply takes the patch only where both
// names are the same. A directory is EISDIR. Everything else is as in [Files]; there are no Paths.
func Pair(ctx context.Context, a snapshot.Tree, from string, b snapshot.Tree, to string, options *Options) iter.Seq2[File, error] {
	var o Options
	if options != nil {
		o = *options
	}
	return func(yield func(File, error) bool) {
		end(yield, "diff", func() error {
			return tree.ViewBoth(ctx, (*tree.Tree)(a.Tree()), (*tree.Tree)(b.Tree()), func(old, now *tree.Tx) error {
				x, err := fileAt(old, from)
				if err != nil {
					return err
				}
				y, err := fileAt(now, to)
				if err != nil {
					return err
				}

				d := &drawer{o: &o, old: old, now: now}
				d.to.apart = true
				f, err := d.file(&place{path: to, old: x, now: y, from: &place{path: from, old: x}})
				if err != nil {
					return &fs.PathError{Op: "diff", Path: to, Err: err}
				}
				if len(f.Text) > 0 && !yield(f, nil) {
					return errEnough
				}
				return nil
			})
		})
	}
}

// fileAt returns the file at a path, which is no directory.
func fileAt(tx *tree.Tx, path string) (*node.Node, error) {
	info, err := (*vfs.Tx)(tx).Lstat(path)
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "diff", Path: path, Err: syscall.EISDIR}
	}
	if err != nil {
		return nil, err
	}
	return node.NodeOf(info), nil
}

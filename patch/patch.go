package patch

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Options are the optional parts of a patch. A nil *Options is the zero value.
type Options struct {
	// Paths restricts the patch to the files at these paths, and below them. None is all files. A file that was moved into
	// or out of them is a new or a deleted file.
	Paths []string

	// Context is the number of common lines around each change: 0 stands for 3, and a negative number for none.
	Context int

	// Binary includes the contents of binary files, as git diff --binary does. Without it they are only named.
	Binary bool

	// Words shows changes by word, within lines: [-old-]{+new+}. It is for people; no program takes such a patch.
	Words bool

	// Color adds the escape sequences with which git diff colours a terminal.
	Color bool
}

// A File is one file that differs between two trees.
type File struct {
	Path string    // in the new tree; if it was deleted, in the old one
	From string    // if it was renamed: the path in the old tree
	Old  *vfs.Info // nil: there was none
	New  *vfs.Info // nil: it is gone

	Added, Removed int    // lines of text
	Binary         bool   // the contents differ, and one is not text
	Note           string // what differs, and git has no word for
	Noted          bool   // nothing but the Note differs

	// Text is the section of the patch, and the comment of the Note before it. It is valid until the next File.
	Text []byte
}

// Files yields the files that differ from tree a to tree b, sorted by path. A nil tree a is an empty one. It reads both trees in one
// transaction, which lasts until the loop ends.
//
// Trees of two stores are EXDEV, and with [Options.Binary] a binary file that is longer than 1 GiB is EFBIG.
func Files(ctx context.Context, a, b snapshot.Tree, options *Options) iter.Seq2[File, error] {
	var o Options
	if options != nil {
		o = *options
	}
	return func(yield func(File, error) bool) {
		end(yield, "diff", func() error {
			now := (*tree.Tree)(b.Tree())
			if a == nil {
				return now.View(ctx, func(tx *tree.Tx) error { return draw(nil, tx, &o, yield) })
			}
			return tree.ViewBoth(ctx, (*tree.Tree)(a.Tree()), now, func(old, now *tree.Tx) error { return draw(old, now, &o, yield) })
		})
	}
}

// Write writes the patch from tree a to tree b, as [Files] has it. A slow w keeps the transaction open.
func Write(ctx context.Context, w io.Writer, a, b snapshot.Tree, options *Options) error {
	for f, err := range Files(ctx, a, b, options) {
		if err != nil {
			return err
		}
		if _, err := w.Write(f.Text); err != nil {
			return err
		}
	}
	return nil
}

// WriteIn writes the sections of some files, which the caller has compared itself: it gives their Path, From, Old and New. The
// contents of both sides are those that the transaction can read. What git has no word for is left out.
func WriteIn(tx *vfs.Tx, w io.Writer, files []File, options *Options) error {
	var o Options
	if options != nil {
		o = *options
	}
	d := &drawer{o: &o, old: (*tree.Tx)(tx), now: (*tree.Tx)(tx)}
	for _, f := range files {
		var old, now *node.Node
		if f.Old != nil {
			old = node.NodeOf(f.Old)
		}
		if f.New != nil {
			now = node.NodeOf(f.New)
		}

		d.to.start(&o)
		if err := d.sections(&f, old, now); err != nil {
			return &fs.PathError{Op: "diff", Path: f.Path, Err: err}
		}
		if _, err := w.Write(d.to.text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// errEnough ends a transaction whose loop was left.
var errEnough = errors.New("the loop was left")

// end runs the body of an iteration, and yields its error as one of op.
func end(yield func(File, error) bool, op string, body func() error) {
	err := body()
	if err == nil || err == errEnough {
		return
	}
	if errno, bare := err.(syscall.Errno); bare {
		err = &fs.PathError{Op: op, Path: ".", Err: errno}
	}
	yield(File{}, err)
}

// draw yields the files that differ between two transactions. A nil old is an empty tree.
func draw(old, now *tree.Tx, o *Options, yield func(File, error) bool) error {
	list, err := places(old, now, Below(o.Paths))
	if err != nil {
		return err
	}
	pair(list)

	d := &drawer{o: o, old: old, now: now}
	for _, p := range list {
		if err := now.DB().Context().Err(); err != nil {
			return err
		}
		f, err := d.file(p)
		if err != nil {
			return &fs.PathError{Op: "diff", Path: p.path, Err: err}
		}
		if len(f.Text) > 0 && !yield(f, nil) {
			return errEnough
		}
	}
	return nil
}

// Below returns the test whether a path is at one of some paths, or below it. No paths are all.
func Below(paths []string) func(string) bool {
	var tops []string
	for _, p := range paths {
		tops = append(tops, strings.TrimPrefix(path.Clean("/"+p), "/"))
	}
	if len(tops) == 0 || slices.Contains(tops, "") {
		return func(string) bool { return true }
	}
	return func(p string) bool {
		return slices.ContainsFunc(tops, func(top string) bool { return node.Within(p, top) })
	}
}

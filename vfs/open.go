package vfs

import (
	"context"
	"fmt"
	"syscall"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// Options say how to open a store. A nil *Options is the zero value: the branch main, created when the file is missing,
// every commit durable.
type Options struct {
	// Branch is the branch to stand on; "" is "main". A branch that does not exist is ENOENT.
	Branch string

	// ReadOnly refuses every write with EROFS, and never creates the file.
	ReadOnly bool

	// MustExist makes Open fail with ENOENT where there is no file, instead of creating one.
	MustExist bool

	// Relaxed leaves out the fsync of each commit. What was acknowledged survives kill -9; a loss of power may take
	// the last commits, but never consistency.
	Relaxed bool

	// Compress compresses content while it is written, if that saves a tenth. It saves less than gc.Compact does later,
	// and the writer pays the time. Parts of a file that a File changes are stored plain.
	Compress bool

	// MaxReaders bounds the pool of connections to the file that read at once, each with a cache of some MiB; 0 is 32. A
	// View beyond it waits until another one ends, so a View inside another needs two. A negative number is EINVAL.
	MaxReaders int
}

// Open opens the store in the file at path, creating it if need be, and returns a branch of it. The FS must be closed.
// Errors: ENOENT (no file with MustExist or ReadOnly, or no such branch), and those of [schema.Open] for a file that
// is no store, of a newer format, or apart from its log.
//
// Once the file or its log is moved away, removed or replaced, every commit is ESTALE, and a new file at the path can
// be opened after Close.
func Open(ctx context.Context, path string, options *Options) (*FS, error) {
	var o Options
	if options != nil {
		o = *options
	}
	name := o.Branch
	if name == "" {
		name = MainBranch
	}
	// A new store has the branch main only, so none is created for the sake of another.
	mustExist := o.MustExist || name != MainBranch
	st, err := tree.Open(ctx, path, schema.Options{
		ReadOnly: o.ReadOnly, MustExist: mustExist, Relaxed: o.Relaxed, MaxReaders: o.MaxReaders,
	}, o.Compress)
	if err != nil {
		return nil, err
	}

	t, err := st.Head(ctx, name)
	if err != nil {
		_ = st.Close()
		return nil, pathErr("branch", name, err)
	}
	t.Own(path)
	return (*FS)(t), nil
}

// Close closes the store after the verbs that are running, if Open returned this FS; else it does nothing. Every FS
// and File of the store then fails with [fs.ErrClosed], also the Close of a File with uncommitted writes.
func (fsys *FS) Close() error {
	return fsys.tree().Close()
}

// Branch returns the head of another branch of the store, or ENOENT.
func (fsys *FS) Branch(ctx context.Context, name string) (*FS, error) {
	head, err := fsys.tree().Store().Head(ctx, name)
	return (*FS)(head), pathErr("branch", name, err)
}

// At returns a past moment of the same store, read-only. A snapshot or a fork must keep the moment: else, and once
// nothing does, it is ESTALE. The moment of a head is EINVAL, see [FS.Branch].
func (fsys *FS) At(ctx context.Context, at Moment) (*FS, error) {
	past, err := fsys.tree().Store().At(ctx, at)
	return (*FS)(past), momentErr(at, err)
}

func momentErr(at Moment, err error) error {
	return pathErr("open", fmt.Sprintf("moment %d of branch %d", at.Epoch, at.Branch), err)
}

// OpenRoot returns the tree below a directory, which paths, `..` and symlinks cannot leave. A later rename of the
// directory does not matter.
func (fsys *FS) OpenRoot(ctx context.Context, name string) (*FS, error) {
	var sub *FS
	err := fsys.view(ctx, "openroot", name, func(tx *Tx) (err error) {
		sub, err = tx.openRoot(name)
		return err
	})
	return sub, err
}

func (tx *Tx) openRoot(name string) (*FS, error) {
	p, err := tx.walk(name, true)
	if err != nil {
		return nil, err
	}
	if p.ino == 0 {
		return nil, syscall.ENOENT
	}
	if p.kind != node.KindDir {
		return nil, syscall.ENOTDIR
	}
	return (*FS)(tx.tree().Tree().Sub(p.ino, name)), nil
}

// view and update are one verb each: an error names the verb and the path, once. fn of view may run twice.
func (fsys *FS) view(ctx context.Context, op, name string, fn func(*Tx) error) error {
	return pathErr(op, name, fsys.look(ctx, fn))
}

func (fsys *FS) update(ctx context.Context, op, name string, fn func(*Tx) error) error {
	return pathErr(op, name, fsys.join(ctx, 0, fn))
}

package vfs

import (
	"context"

	"vfsdb/node"
	"vfsdb/tree"
)

// An FS is one tree of a store: the head of a branch, or a past moment, which refuses writes with EROFS. It has the
// verbs of [os.Root] with a context in front; each happens whole or not at all, and is durable when it has returned.
// It is safe for concurrent use, by any number of goroutines and processes.
type FS tree.Tree

// An Info describes a file at one moment. Beside the methods of an [fs.FileInfo] it has Ino, Nlink, Owner, Rdev and
// Target, as stat and readlink return them, ChangeTime and BirthTime, Xattrs, the names of the extended attributes, and
// SameContent, which compares two files without reading them.
type Info = node.Info

// An Ino is an inode number, unique in the store and never used again. A file keeps it through renames, snapshots and
// branches. 0 is no inode.
type Ino = node.Ino

// MaxReadSize is the most bytes that ReadFile and ReadRange return; more is EFBIG. A file may be longer than memory:
// use [FS.Open].
const MaxReadSize = tree.MaxReadSize

// tree is the FS as rooms below see it.
func (fsys *FS) tree() *tree.Tree { return (*tree.Tree)(fsys) }

// Name returns the path given to Open; of another FS, its branch or directory.
func (fsys *FS) Name() string { return fsys.tree().Name() }

// Head returns the branch's name as of its opening; "" for a past moment.
func (fsys *FS) Head() string { return fsys.tree().Head() }

// Moment returns the point in history that the FS shows.
func (fsys *FS) Moment() Moment { return fsys.tree().Moment() }

// Tree returns the FS itself, so that a type that embeds it is a tree too.
func (fsys *FS) Tree() *FS { return fsys }

// Frozen reports whether the FS is a past moment, which refuses writes.
func (fsys *FS) Frozen() bool { return fsys.tree().Frozen() }

// Whole reports whether the FS is a whole tree, not one of [FS.OpenRoot].
func (fsys *FS) Whole() bool { return fsys.tree().Whole() }

// View runs fn on one moment of the tree. fn must not keep tx, nor run for long, because the log of the file grows
// meanwhile.
func (fsys *FS) View(ctx context.Context, fn func(*Tx) error) error {
	return fsys.tree().View(ctx, func(tx *tree.Tx) error { return fn((*Tx)(tx)) })
}

// Update runs fn and commits all that it did, or nothing if it returns an error. When Update has returned nil, the
// commit is durable. One Update runs at a time, so fn should not wait for anything. Inside fn use tx: a verb of fsys
// would wait for this Update.
func (fsys *FS) Update(ctx context.Context, fn func(*Tx) error) error {
	return fsys.tree().Update(ctx, func(tx *tree.Tx) error { return fn((*Tx)(tx)) })
}

// join is an Update of one short verb, which writes about so many bytes.
func (fsys *FS) join(ctx context.Context, bytes int, fn func(*Tx) error) error {
	return fsys.tree().Join(ctx, bytes, func(tx *tree.Tx) error { return fn((*Tx)(tx)) })
}

// look runs fn on the caches of this moment. If they do not suffice, it runs fn again, in a transaction that reads.
func (fsys *FS) look(ctx context.Context, fn func(*Tx) error) error {
	tx, err := fsys.tree().Cached(ctx)
	if tx == nil {
		return fsys.View(ctx, fn)
	}
	if err == nil {
		err = fn((*Tx)(tx))
	}
	if tx.Missed() {
		return fsys.View(ctx, fn)
	}
	return err
}

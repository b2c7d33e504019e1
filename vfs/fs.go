package vfs

import (
	"context"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/tree"
)

// An FS is one tree of a store: the head of a branch, which can be written, or a past moment, which refuses writes with
// EROFS. Its verbs are those of [os.Root] with a context in front; each happens whole or not at all, and is durable
// when it has returned. It is safe for concurrent use, by any number of goroutines and processes.
type FS tree.Tree

// An Info describes a file as it was at one moment. It is an [fs.FileInfo] with more to it: its methods Ino, Nlink, Owner,
// Rdev and Target are what stat and readlink return, ChangeTime and BirthTime are the other times, and SameContent compares
// two files without reading them.
type Info = node.Info

// An Ino is an inode number. It is unique in the store, is never used again, and stays with a file through renames,
// snapshots and branches. 0 is no inode.
type Ino = node.Ino

// A Moment is a point in a branch's history: what the tree of Branch was at the end of an Epoch. Moments can be compared
// with ==, and are made by snapshots and forks.
type Moment = history.Moment

// A Branch is a line of history with a head that can be written: its ID, its Name, when it was Created, the Depth of its
// lineage, the branch that it continues (Base) and where (Fork).
type Branch = history.Branch

// MainBranch is the branch that a new store has. It cannot be renamed or deleted.
const MainBranch = history.MainBranch

// MaxReadSize is how many bytes ReadFile, ReadRange and GetMany return at most: more is EFBIG. A file may be longer than
// any memory, by its holes alone. [FS.Open] reads one of any length.
const MaxReadSize = tree.MaxReadSize

// CheckName refuses a name that no branch or snapshot may have with EINVAL: an empty one, one over 255 bytes, one with
// a slash, an '@', a space or a control character in it, one that is not UTF-8, one that starts with '-'.
func CheckName(name string) error { return history.CheckName(name) }

// tree is the FS as rooms below see it.
func (fsys *FS) tree() *tree.Tree { return (*tree.Tree)(fsys) }

// Name returns the path that Open was given, or for another FS its branch or directory.
func (fsys *FS) Name() string { return fsys.tree().Name() }

// Head returns the name of the branch that the FS writes to, as it was when the FS was made; "" if it stands on a past
// moment.
func (fsys *FS) Head() string { return fsys.tree().Head() }

// Moment returns where in history the FS stands.
func (fsys *FS) Moment() Moment { return fsys.tree().Moment() }

// Tree returns the FS itself. A type that embeds an *FS, as a snapshot does, can stand wherever a tree is asked for.
func (fsys *FS) Tree() *FS { return fsys }

// Frozen reports whether the FS stands on a past moment and so refuses writes with EROFS.
func (fsys *FS) Frozen() bool { return fsys.tree().Frozen() }

// Whole reports whether the FS shows a whole branch, or a moment of one, and not a directory of it as [FS.OpenRoot] does.
func (fsys *FS) Whole() bool { return fsys.tree().Whole() }

// View runs fn on one moment of the tree: what others commit meanwhile is not seen. fn must not keep tx, nor run for
// long, because the file cannot reuse its log meanwhile.
func (fsys *FS) View(ctx context.Context, fn func(*Tx) error) error {
	return fsys.tree().View(ctx, func(tx *tree.Tx) error { return fn((*Tx)(tx)) })
}

// Update runs fn and commits all that it did, or nothing if it returns an error. When Update has returned nil the
// commit is durable. One Update runs at a time: others wait, so fn should not wait for anything itself. Inside fn
// use tx, never fsys: a verb of fsys would wait for the Update that it is called from.
func (fsys *FS) Update(ctx context.Context, fn func(*Tx) error) error {
	return fsys.tree().Update(ctx, func(tx *tree.Tx) error { return fn((*Tx)(tx)) })
}

// join is an Update of one short verb, which writes about so many bytes.
func (fsys *FS) join(ctx context.Context, bytes int, fn func(*Tx) error) error {
	return fsys.tree().Join(ctx, bytes, func(tx *tree.Tx) error { return fn((*Tx)(tx)) })
}

// look runs fn on what is cached of this moment, or if that does not suffice, in a transaction that reads. So fn may run
// twice.
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

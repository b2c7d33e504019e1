package snapshot

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"vfsdb/schema"
	"vfsdb/vfs"
)

// Branch forks a branch from a tree, and stands on it. From a branch it starts as that is now, from a snapshot as that
// was, from nil as an empty root. An empty name makes one up. A name that a branch or a snapshot has is EEXIST.
func Branch(ctx context.Context, fsys *vfs.FS, base Tree, name string) (*vfs.FS, error) {
	if name == "" {
		name = madeUpName("branch")
	}
	made, err := branch(ctx, fsys, base, name)
	if err != nil {
		return nil, nameErr("branch", name, err)
	}
	return made, nil
}

func branch(ctx context.Context, fsys *vfs.FS, base Tree, name string) (made *vfs.FS, err error) {
	// A transaction writes through the head that it stands on, and freezing needs to stand on the base.
	from, err := writerFor(ctx, fsys, base)
	if err != nil {
		return nil, err
	}
	err = from.Update(ctx, func(tx *vfs.Tx) (err error) {
		if err := fork(tx, base, name); err != nil {
			return err
		}
		made, err = tx.Branch(name) // here, as once it is committed nothing may fail any more
		return err
	})
	return made, err
}

func fork(tx *vfs.Tx, base Tree, name string) error {
	taken, err := nameTaken(tx, name)
	switch {
	case err != nil:
		return err
	case taken:
		return syscall.EEXIST
	}
	if err := tx.Record("branch", ".", strings.TrimSpace(name+" "+nameOf(base))); err != nil { // no name has a space
		return err
	}
	if base == nil {
		return tx.ForkEmpty(name)
	}
	at := base.Tree().Moment()
	if !base.Tree().Frozen() {
		if at, err = tx.Freeze(); err != nil {
			return err
		}
	}
	return tx.Fork(at, name)
}

// nameOf is the name of a snapshot, or of the branch whose head a tree is; other trees have none.
func nameOf(t Tree) string {
	if s, ok := t.(*Snapshot); ok {
		return s.Info.Name
	}
	if t == nil || t.Tree().Frozen() {
		return ""
	}
	return t.Tree().Head()
}

// writerFor returns the head to write through when base is forked.
func writerFor(ctx context.Context, fsys *vfs.FS, base Tree) (*vfs.FS, error) {
	switch {
	case base != nil && base.Tree().DB() != fsys.DB():
		return nil, syscall.EXDEV
	case base != nil && !base.Tree().Frozen():
		return base.Tree(), nil
	case fsys.Frozen():
		return fsys.Branch(ctx, vfs.MainBranch)
	}
	return fsys, nil
}

// Branches returns the branches of the store, oldest first.
func Branches(ctx context.Context, fsys *vfs.FS) ([]vfs.Branch, error) { return fsys.Branches(ctx) }

// RenameBranch gives a branch another name. The branch main keeps its own: EPERM.
func RenameBranch(ctx context.Context, fsys *vfs.FS, from, to string) error {
	err := onMain(ctx, fsys, func(tx *vfs.Tx) error {
		if taken, err := nameTaken(tx, to); err != nil || taken {
			if err == nil {
				err = syscall.EEXIST
			}
			return err
		}
		if err := tx.RenameBranch(from, to); err != nil {
			return err
		}
		return tx.Record("branch-rename", ".", from+" "+to) // no name has a space
	})
	return nameErr("rename branch", from, err)
}

// DeleteBranch drops a branch and its snapshots and frees its name. Branches forked from it keep all they show. The
// branch main stays: EPERM.
func DeleteBranch(ctx context.Context, fsys *vfs.FS, name string) error {
	err := onMain(ctx, fsys, func(tx *vfs.Tx) error {
		if name == vfs.MainBranch {
			return syscall.EPERM
		}
		if err := removeOf(tx.DB(), name); err != nil {
			return err
		}
		if err := tx.DropBranch(name); err != nil {
			return err
		}
		return tx.Record("branch-delete", ".", name)
	})
	return nameErr("delete branch", name, err)
}

// onMain runs fn through the one head that is always there.
func onMain(ctx context.Context, fsys *vfs.FS, fn func(*vfs.Tx) error) error {
	main, err := fsys.Branch(ctx, vfs.MainBranch)
	if err != nil {
		return err
	}
	return main.Update(ctx, fn)
}

// Resolve finds the tree that a reference names: a snapshot, a branch, or `branch@snapshot`, which insists that the
// snapshot be one of the branch's. None is ENOENT.
func Resolve(ctx context.Context, fsys *vfs.FS, ref string) (Tree, error) {
	branch, name, both := strings.Cut(ref, "@")
	if !both {
		name = ref
	}
	var listed bool
	var info Info
	err := fsys.DB().View(ctx, func(db *schema.Tx) (err error) {
		if listed, err = isListed(db, name); err == nil && (listed || both) {
			info, err = selectOne(db, name)
		}
		return err
	})
	switch {
	case err == nil && both && info.Branch != branch:
		return nil, nameErr("snapshot", ref, syscall.ENOENT)
	case err != nil:
		return nil, nameErr("snapshot", ref, err)
	case listed || both:
		return open(ctx, fsys, info)
	}
	head, err := fsys.Branch(ctx, ref)
	if err == nil {
		return head, nil
	}
	if errors.Is(err, fs.ErrNotExist) { // of neither, unless there is a snapshot that is not listed
		err = fsys.DB().View(ctx, func(db *schema.Tx) error {
			_, err := selectOne(db, name)
			return cmp.Or(err, error(syscall.ENOENT)) // one that came this moment came too late
		})
	}
	return nil, nameErr("find snapshot or branch", ref, err)
}

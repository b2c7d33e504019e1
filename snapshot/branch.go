package snapshot

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"vfsdb/history"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Branch forks a branch from a tree and returns its head. Forked from a branch it starts as that branch is now, from a
// snapshot as that moment was, and from nil as an empty root. An empty name makes one up. A name that a branch or a
// snapshot already has is EEXIST.
func Branch(ctx context.Context, fsys *vfs.FS, base Tree, name string) (*vfs.FS, error) {
	if name == "" {
		name = MadeUpName("branch")
	}
	made, err := branch(ctx, fsys, base, name)
	if err != nil {
		return nil, nameErr("branch", name, err)
	}
	return made, nil
}

func branch(ctx context.Context, fsys *vfs.FS, base Tree, name string) (made *vfs.FS, err error) {
	// Only the head of the base can be frozen, so the transaction has to run there.
	from, err := writerFor(ctx, fsys, base)
	if err != nil {
		return nil, err
	}

	err = from.Update(ctx, func(tx *vfs.Tx) (err error) {
		if err := fork(tx, base, name); err != nil {
			return err
		}
		made, err = headIn(tx, name) // before the commit, because nothing may fail after it
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
	if base != nil && base.Tree().Frozen() { // the tree must be readable still
		if _, err := (*tree.Tx)(tx).On((*tree.Tree)(base.Tree())); err != nil {
			return err
		}
	}

	if err := (*tree.Tx)(tx).Record("branch", ".", strings.TrimSpace(name+" "+nameOf(base))); err != nil { // no name has a space
		return err
	}
	if base == nil {
		return (*tree.Tx)(tx).ForkEmpty(name)
	}

	at := base.Tree().Moment()
	if !base.Tree().Frozen() {
		if at, err = (*tree.Tx)(tx).Freeze(); err != nil {
			return err
		}
	}
	return (*tree.Tx)(tx).Fork(at, name)
}

// writerFor returns the head to write through when base is forked.
func writerFor(ctx context.Context, fsys *vfs.FS, base Tree) (*vfs.FS, error) {
	switch {
	case base != nil && (*tree.Tree)(base.Tree()).DB() != (*tree.Tree)(fsys).DB():
		return nil, syscall.EXDEV
	case base != nil && !base.Tree().Frozen():
		return base.Tree(), nil
	case fsys.Frozen():
		return fsys.Branch(ctx, vfs.MainBranch)
	}
	return fsys, nil
}

// RenameBranch gives a branch another name. The snapshots that an apply of the branch begins with, which have its name in
// theirs, follow. The branch main keeps its own: EPERM.
func RenameBranch(ctx context.Context, fsys *vfs.FS, from, to string) error {
	err := onMain(ctx, fsys, func(tx *vfs.Tx) error {
		if taken, err := nameTaken(tx, to); err != nil || taken {
			if err == nil {
				err = syscall.EEXIST
			}
			return err
		}
		if err := (*tree.Tx)(tx).RenameBranch(from, to); err != nil {
			return &os.LinkError{Op: "rename branch", Old: from, New: to, Err: err}
		}
		if err := renameBases(tx, from, to); err != nil {
			return err
		}
		return (*tree.Tx)(tx).Record("branch-rename", ".", from+" "+to) // no name has a space
	})
	return nameErr("rename branch", from, err)
}

// renameBases gives the snapshots that an apply of a renamed branch begins with the names that it looks for.
func renameBases(tx *vfs.Tx, from, to string) error {
	db := (*tree.Tx)(tx).DB()
	id, err := history.FindBranch(db, to)
	if err != nil {
		return err
	}
	list, err := selectOf(db, id)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.Branch = from; !s.isBase() {
			continue
		}

		name := to + strings.TrimPrefix(s.Name, from)
		taken, err := nameTaken(tx, name)
		if err == nil && taken {
			err = syscall.EEXIST
		}
		if err == nil {
			err = history.RenameSnapshot(db, s.ID, name)
		}
		if err != nil {
			return &os.LinkError{Op: "rename snapshot", Old: s.Name, New: name, Err: err}
		}
	}
	return nil
}

// DeleteBranch drops a branch and its snapshots, and frees its name. Branches that were forked from it keep everything
// they show. The branch main cannot be dropped: EPERM.
func DeleteBranch(ctx context.Context, fsys *vfs.FS, name string) error {
	err := onMain(ctx, fsys, func(tx *vfs.Tx) error {
		if name == vfs.MainBranch {
			return syscall.EPERM
		}
		if err := history.DeleteSnapshots((*tree.Tx)(tx).DB(), name); err != nil {
			return err
		}
		if err := (*tree.Tx)(tx).DropBranch(name); err != nil {
			return err
		}
		return (*tree.Tx)(tx).Record("branch-delete", ".", name)
	})
	return nameErr("delete branch", name, err)
}

// onMain runs fn on the head of main, the only branch that always exists.
func onMain(ctx context.Context, fsys *vfs.FS, fn func(*vfs.Tx) error) error {
	main, err := fsys.Branch(ctx, vfs.MainBranch)
	if err != nil {
		return err
	}
	return main.Update(ctx, fn)
}

// Resolve finds the tree that a reference names: a snapshot, a branch, or `branch@snapshot`, which requires that the
// snapshot is one of that branch. A reference to nothing is ENOENT.
func Resolve(ctx context.Context, fsys *vfs.FS, ref string) (Tree, error) {
	branch, name, both := strings.Cut(ref, "@")
	if !both {
		name = ref
	}

	// Snapshots come first.
	var listed bool
	var info Info
	err := (*tree.Tree)(fsys).DB().View(ctx, func(db *schema.Tx) (err error) {
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
		return At(ctx, fsys, info)
	}

	head, err := fsys.Branch(ctx, ref)
	if err == nil {
		return head, nil
	}

	// It is neither, unless a damaged index hides a snapshot of that name.
	if errors.Is(err, fs.ErrNotExist) {
		err = (*tree.Tree)(fsys).DB().View(ctx, func(db *schema.Tx) error {
			_, err := selectOne(db, name)
			return cmp.Or(err, error(syscall.ENOENT)) // found now, it was made after the first look
		})
	}
	return nil, nameErr("find snapshot or branch", ref, err)
}

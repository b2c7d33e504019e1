package snapshot_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Branches are isolated from each other and from what they came from.
func TestBranchesAreIsolated(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a", "dir/b")
	s := create(t, fsys, "base")
	write(t, fsys, "a", "later in main")
	fromPast, err := snapshot.Branch(ctx, fsys, s, "past")
	require.NoError(t, err)
	fromHead, err := snapshot.Branch(ctx, fsys, fsys, "head")
	require.NoError(t, err)
	empty, err := snapshot.Branch(ctx, fsys, nil, "fresh")
	require.NoError(t, err)

	require.Equal(t, "a", read(t, fromPast, "a"))
	require.Equal(t, "later in main", read(t, fromHead, "a"))
	entries, err := empty.ReadDir(ctx, ".")
	require.NoError(t, err)
	require.Empty(t, entries)

	write(t, fromPast, "a", "in past")
	require.NoError(t, fromPast.RemoveAll(ctx, "dir"))
	require.NoError(t, fromHead.Rename(ctx, "dir/b", "dir/moved"))
	write(t, fsys, "dir/b", "in main")
	write(t, empty, "only", "here")

	require.Equal(t, "later in main", read(t, fsys, "a"))
	require.Equal(t, "in main", read(t, fsys, "dir/b"))
	require.Equal(t, "dir/b", read(t, fromHead, "dir/moved"))
	_, err = fromPast.Stat(ctx, "dir")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, "dir/b", read(t, s.FS, "dir/b"))
	require.NoError(t, fstest.TestFS(fromHead.IOFS(ctx), "a", "dir/moved"))
}

// A moment of a branch that is dropped stays as long as a fork keeps it: it can be opened, files have their names there,
// and it can be compared. This holds for a tree that was open before, too.
func TestMomentOfDroppedBranch(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "d/f", "gone")
	mid, err := snapshot.Branch(ctx, fsys, fsys, "mid")
	require.NoError(t, err)
	write(t, mid, "d/mine", "of mid")
	require.NoError(t, mid.Link(ctx, "d/mine", "link"))
	require.NoError(t, mid.Remove(ctx, "gone"))
	before := create(t, mid, "s")
	fork, err := snapshot.Branch(ctx, fsys, before, "fork")
	require.NoError(t, err)
	require.NoError(t, fork.Rename(ctx, "d", "moved"))
	want := vfstest.Dump(t, before.FS)
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "mid"))

	later := vfstest.Open(t, fsys.Name(), nil)
	opened, err := later.At(ctx, before.Moment())
	require.NoError(t, err)
	head, err := later.Branch(ctx, "fork")
	require.NoError(t, err)
	for _, trees := range [][2]*vfs.FS{{before.FS, fork}, {opened, head}} {
		past, fork := trees[0], trees[1]
		require.Equal(t, want, vfstest.Dump(t, past))
		require.NoError(t, past.View(ctx, func(tx *vfs.Tx) error {
			for name, want := range map[string][]string{"d/f": {"d/f"}, "link": {"d/mine", "link"}} {
				info, err := tx.Lstat(name)
				require.NoError(t, err)
				paths, err := (*tree.Tx)(tx).Paths(info.Ino())
				require.NoError(t, err)
				require.Equal(t, want, paths)
			}
			return nil
		}))
		require.Equal(t, "renamed moved from d", changes(t, past, fork))
	}

	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "fork"))
	_, err = opened.Lstat(ctx, "link")
	require.ErrorIs(t, err, syscall.ESTALE)
	_, err = fsys.At(ctx, before.Moment())
	require.ErrorIs(t, err, syscall.ESTALE)
}

// Dropping a branch that others descend from is safe, and frees its name at once.
func TestDeleteBranch(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a")
	mid, err := snapshot.Branch(ctx, fsys, fsys, "mid")
	require.NoError(t, err)
	write(t, mid, "b", "from mid")
	leaf, err := snapshot.Branch(ctx, fsys, mid, "leaf")
	require.NoError(t, err)
	_, err = snapshot.Create(ctx, mid, "mid-snap", nil)
	require.NoError(t, err)

	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "mid"))
	require.Equal(t, "from mid", read(t, leaf, "b"))
	_, err = mid.ReadFile(ctx, "b")
	require.ErrorIs(t, err, syscall.ESTALE)
	require.ErrorIs(t, mid.WriteFile(ctx, "b", nil, 0o644), syscall.ESTALE)
	_, err = snapshot.Open(ctx, fsys, "mid-snap")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = snapshot.Branch(ctx, fsys, nil, "mid")
	require.NoError(t, err, "the name is free")

	require.ErrorIs(t, snapshot.DeleteBranch(ctx, fsys, "main"), syscall.EPERM)
	require.ErrorIs(t, snapshot.DeleteBranch(ctx, fsys, "none"), syscall.ENOENT)
	require.ErrorIs(t, snapshot.RenameBranch(ctx, fsys, "main", "x"), syscall.EPERM)
	require.ErrorIs(t, snapshot.RenameBranch(ctx, fsys, "leaf", "mid"), syscall.EEXIST)
	require.EqualError(t, snapshot.RenameBranch(ctx, fsys, "none", "x"), "rename branch none x: "+syscall.ENOENT.Error())
	require.NoError(t, snapshot.RenameBranch(ctx, fsys, "leaf", "tip"))
	err = snapshot.RenameBranch(ctx, fsys, "tip", "a b")
	require.ErrorIs(t, err, syscall.EINVAL)
	require.Equal(t, 1, strings.Count(err.Error(), "rename branch"), "what was asked is said once")
	tip, err := fsys.Branch(ctx, "tip")
	require.NoError(t, err)
	require.Equal(t, "from mid", read(t, tip, "b"))
}

func TestResolve(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a")
	create(t, fsys, "s")
	_, err := snapshot.Branch(ctx, fsys, fsys, "b")
	require.NoError(t, err)
	for ref, frozen := range map[string]bool{"s": true, "main@s": true, "b": false, "main": false} {
		tree, err := snapshot.Resolve(ctx, fsys, ref)
		require.NoError(t, err, ref)
		require.Equal(t, frozen, tree.Tree().Frozen(), ref)
	}
	for _, ref := range []string{"none", "b@s", "main@none", ""} {
		_, err := snapshot.Resolve(ctx, fsys, ref)
		require.ErrorIs(t, err, os.ErrNotExist, ref)
	}
	_, err = snapshot.Resolve(ctx, fsys, "none")
	require.ErrorContains(t, err, "snapshot or branch none")
}

// The event of a new branch names the tree that it was forked from.
func TestBranchEvent(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	base, err := snapshot.Create(ctx, fsys, "base", nil)
	require.NoError(t, err)
	fork(t, fsys, "of-head")
	_, err = snapshot.Branch(ctx, fsys, base, "of-snapshot")
	require.NoError(t, err)
	_, err = snapshot.Branch(ctx, fsys, nil, "of-nothing")
	require.NoError(t, err)
	require.Equal(t, []string{
		"snapshot . (base)", "branch . (of-head main)", "branch . (of-snapshot base)", "branch . (of-nothing)",
	}, vfstest.Log(t, fsys, &vfs.LogOptions{}))
}

// A moment that the store holds can be forked, whether anything else keeps it or not; afterwards the branch keeps it.
func TestBranchOfHeldMoment(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	held, release, err := (*tree.Tree)(fsys).Hold(ctx)
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(ctx, "a"))
	made, err := snapshot.Branch(ctx, fsys, (*vfs.FS)(held), "from-held")
	require.NoError(t, err)
	release()
	require.Equal(t, []string{"a"}, vfstest.Names(t, made))
	_, err = snapshot.Branch(ctx, fsys, (*vfs.FS)(held), "late")
	require.NoError(t, err, "the branch keeps the moment")
}

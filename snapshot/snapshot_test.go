package snapshot_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func newFS(t *testing.T, files ...string) *vfs.FS {
	t.Helper()
	fsys := vfstest.New(t)
	for _, name := range files {
		write(t, fsys, name, name)
	}
	return fsys
}

func write(t *testing.T, fsys *vfs.FS, name, content string) {
	t.Helper()
	vfstest.Write(t, fsys, name, content)
}

func read(t *testing.T, fsys *vfs.FS, name string) string {
	t.Helper()
	return vfstest.Read(t, fsys, name)
}

func create(t *testing.T, fsys *vfs.FS, name string) *snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Create(t.Context(), fsys, name, nil)
	require.NoError(t, err)
	return s
}

// changes renders a diff, one change a line.
func changes(t *testing.T, a, b snapshot.Tree) string {
	t.Helper()
	var lines []string
	for c, err := range snapshot.Diff(t.Context(), a, b) {
		require.NoError(t, err)
		line := string(c.Kind) + " " + c.Path
		if c.From != "" {
			line += " from " + c.From
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// A snapshot is the tree as it was, whatever happens to the head, and refuses writes with EROFS.
func TestSnapshotIsFrozen(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a", "dir/b", "dir/c")
	s := create(t, fsys, "s1")
	write(t, fsys, "a", "changed")
	require.NoError(t, fsys.RemoveAll(ctx, "dir"))
	write(t, fsys, "new", "new")

	require.Equal(t, "a", read(t, s.FS, "a"))
	require.Equal(t, "dir/b", read(t, s.FS, "dir/b"))
	_, err := s.Stat(ctx, "new")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, fstest.TestFS(s.IOFS(ctx), "a", "dir/b", "dir/c"))

	for name, err := range map[string]error{
		"write":  s.WriteFile(ctx, "a", nil, 0o644),
		"mkdir":  s.Mkdir(ctx, "d", 0o755),
		"remove": s.Remove(ctx, "a"),
		"all":    s.RemoveAll(ctx, "dir"),
		"rename": s.Rename(ctx, "a", "b"),
		"chmod":  s.Chmod(ctx, "a", 0o600),
	} {
		require.ErrorIs(t, err, syscall.EROFS, name)
	}
	_, err = s.OpenFile(ctx, "a", os.O_RDWR, 0)
	require.ErrorIs(t, err, syscall.EROFS)
	_, err = s.WriteFrom(ctx, "a", strings.NewReader("x"), 0o644)
	require.ErrorIs(t, err, syscall.EROFS)
}

func TestNames(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a")
	s := create(t, fsys, "one")
	_, err := snapshot.Create(ctx, fsys, "one", nil)
	require.ErrorIs(t, err, os.ErrExist)
	_, err = snapshot.Create(ctx, fsys, "main", nil)
	require.ErrorIs(t, err, os.ErrExist, "one space of names with branches")
	_, err = snapshot.Branch(ctx, fsys, s, "one")
	require.ErrorIs(t, err, os.ErrExist)
	for _, bad := range []string{"a/b", "a@b", "a b", "-x", "\xff", strings.Repeat("x", 256)} {
		_, err := snapshot.Create(ctx, fsys, bad, nil)
		require.ErrorIs(t, err, syscall.EINVAL, bad)
	}
	made, err := snapshot.Create(ctx, fsys, "", &snapshot.Options{Note: "why"})
	require.NoError(t, err)
	require.NotEmpty(t, made.Info.Name)
	list, err := snapshot.List(ctx, fsys)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "one", list[0].Name)
	require.Equal(t, "main", list[0].Branch)
	require.Equal(t, "why", list[1].Note)

	_, err = snapshot.Open(ctx, fsys, "none")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, snapshot.Delete(ctx, fsys, "none"), os.ErrNotExist)
	require.NoError(t, snapshot.Delete(ctx, fsys, "one"))
	_, err = s.ReadFile(ctx, "a")
	require.ErrorIs(t, err, syscall.ESTALE, "a deleted snapshot answers nothing")
	_, err = snapshot.Restore(ctx, fsys, s)
	require.ErrorIs(t, err, syscall.ESTALE)
	_, err = snapshot.Branch(ctx, fsys, s, "late")
	require.ErrorIs(t, err, syscall.ESTALE)
}

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

// A snapshot tells what its branch is called, whatever that was called when the FS was made.
func TestSnapshotOfRenamed(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a")
	try, err := snapshot.Branch(ctx, fsys, fsys, "try")
	require.NoError(t, err)
	require.NoError(t, snapshot.RenameBranch(ctx, fsys, "try", "best"))
	s, err := snapshot.Create(ctx, try, "s", nil)
	require.NoError(t, err)
	undo, err := snapshot.Restore(ctx, try, s)
	require.NoError(t, err)
	require.Equal(t, []string{"best", "best"}, []string{s.Info.Branch, undo.Info.Branch})
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

func TestDiff(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, fsys *vfs.FS)
		want string
	}{
		{"nothing", func(t *testing.T, fsys *vfs.FS) {}, ""},
		{"times alone", func(t *testing.T, fsys *vfs.FS) { write(t, fsys, "a", "a") }, ""},
		{"added", func(t *testing.T, fsys *vfs.FS) { write(t, fsys, "x/y", "1") }, "added x\nadded x/y"},
		{"modified", func(t *testing.T, fsys *vfs.FS) { write(t, fsys, "dir/b", "2") }, "modified dir/b"},
		{"removed", func(t *testing.T, fsys *vfs.FS) { require.NoError(t, fsys.Remove(t.Context(), "a")) }, "removed a"},
		{
			"removed tree", func(t *testing.T, fsys *vfs.FS) { require.NoError(t, fsys.RemoveAll(t.Context(), "dir")) },
			"removed dir\nremoved dir/b\nremoved dir/sub\nremoved dir/sub/c",
		},
		{"mode", func(t *testing.T, fsys *vfs.FS) { require.NoError(t, fsys.Chmod(t.Context(), "a", 0o600)) }, "mode a"},
		{"type", func(t *testing.T, fsys *vfs.FS) {
			require.NoError(t, fsys.Remove(t.Context(), "a"))
			require.NoError(t, fsys.Symlink(t.Context(), "dir", "a"))
		}, "type a"},
		{"renamed", func(t *testing.T, fsys *vfs.FS) { require.NoError(t, fsys.Rename(t.Context(), "a", "dir/a2")) }, "renamed dir/a2 from a"},
		{"renamed directory", func(t *testing.T, fsys *vfs.FS) { require.NoError(t, fsys.Rename(t.Context(), "dir", "d2")) }, "renamed d2 from dir"},
		{"changed below a renamed directory", func(t *testing.T, fsys *vfs.FS) {
			require.NoError(t, fsys.Rename(t.Context(), "dir", "d2"))
			write(t, fsys, "d2/b", "3")
		}, "renamed d2 from dir\nmodified d2/b"},
		{"renamed and changed", func(t *testing.T, fsys *vfs.FS) {
			require.NoError(t, fsys.Rename(t.Context(), "a", "z"))
			write(t, fsys, "z", "3")
		}, "renamed z from a\nmodified z"},
		{"atomic save", func(t *testing.T, fsys *vfs.FS) {
			write(t, fsys, "tmp", "4")
			require.NoError(t, fsys.Rename(t.Context(), "tmp", "a"))
		}, "modified a"},
		{"moved out of a removed tree", func(t *testing.T, fsys *vfs.FS) {
			require.NoError(t, fsys.Rename(t.Context(), "dir/sub", "kept"))
			require.NoError(t, fsys.RemoveAll(t.Context(), "dir"))
		}, "removed dir\nremoved dir/b\nrenamed kept from dir/sub"},
		{"further link", func(t *testing.T, fsys *vfs.FS) { require.NoError(t, fsys.Link(t.Context(), "a", "a2")) }, "added a2"},
		{
			"copied", func(t *testing.T, fsys *vfs.FS) { require.NoError(t, fsys.Copy(t.Context(), "dir", "copy")) },
			"added copy\nadded copy/b\nadded copy/sub\nadded copy/sub/c",
		},
		{"there and back", func(t *testing.T, fsys *vfs.FS) {
			require.NoError(t, fsys.Rename(t.Context(), "a", "z"))
			require.NoError(t, fsys.Rename(t.Context(), "z", "a"))
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := newFS(t, "a", "dir/b", "dir/sub/c")
			s := create(t, fsys, "s")
			tt.do(t, fsys)
			require.Equal(t, tt.want, changes(t, s, fsys), "in one branch")

			other := newFS(t, "a", "dir/b", "dir/sub/c")
			branch, err := snapshot.Branch(t.Context(), other, other, "try")
			require.NoError(t, err)
			tt.do(t, branch)
			require.Equal(t, tt.want, changes(t, other, branch), "between branches")

			// After a restore nothing differs, and the restore can be undone.
			undo, err := snapshot.Restore(t.Context(), fsys, s)
			require.NoError(t, err)
			require.Empty(t, changes(t, s, fsys))
			require.Equal(t, tt.want, changes(t, s, undo))
			_, err = snapshot.Restore(t.Context(), fsys, undo)
			require.NoError(t, err)
			require.Equal(t, tt.want, changes(t, s, fsys))
			require.Empty(t, changes(t, undo, fsys))
		})
	}
}

// Restore across branches: the head becomes what the other branch is.
func TestRestoreFromBranch(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a", "dir/b")
	try, err := snapshot.Branch(ctx, fsys, fsys, "try")
	require.NoError(t, err)
	write(t, try, "a", "better")
	require.NoError(t, try.Rename(ctx, "dir", "renamed"))
	write(t, fsys, "junk", "junk")
	_, err = snapshot.Restore(ctx, fsys, try)
	require.NoError(t, err)
	require.Empty(t, changes(t, try, fsys))
	require.Equal(t, "better", read(t, fsys, "a"))
	require.Equal(t, "dir/b", read(t, fsys, "renamed/b"))
	fresh, err := snapshot.Branch(ctx, fsys, nil, "fresh")
	require.NoError(t, err)
	_, err = snapshot.Restore(ctx, fsys, fresh)
	require.NoError(t, err)
	entries, err := fsys.ReadDir(ctx, ".")
	require.NoError(t, err)
	require.Empty(t, entries, "a tree without a common past")
	past, err := snapshot.Open(ctx, fsys, "none")
	require.Nil(t, past)
	require.Error(t, err)
}

// A lineage stays at most 17 levels deep, and each generation shows all that those before it left.
func TestDeepLineage(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "base")
	want := []string{"base"}
	for i := range 40 {
		next, err := snapshot.Branch(ctx, fsys, fsys, fmt.Sprintf("gen%d", i))
		require.NoError(t, err)
		fsys = next
		name := fmt.Sprintf("f%02d", i)
		write(t, fsys, name, name)
		want = append(want, name)
		if i%3 == 0 && i > 0 {
			gone := want[1]
			want = append(want[:1], want[2:]...)
			require.NoError(t, fsys.Remove(ctx, gone))
		}
	}
	var got []string
	entries, err := fsys.ReadDir(ctx, ".")
	require.NoError(t, err)
	for _, e := range entries {
		got = append(got, e.Name())
		require.Equal(t, e.Name(), read(t, fsys, e.Name()))
	}
	require.Equal(t, want, got)
	list, err := snapshot.Branches(ctx, fsys)
	require.NoError(t, err)
	for _, b := range list {
		require.LessOrEqual(t, b.Depth, 17, b.Name)
	}
}

package snapshot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

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

// DiffSums has the sums of regular files, on the sides that have one.
func TestDiffSums(t *testing.T) {
	fsys := vfstest.New(t, "gone", "f", "dir/")
	before, err := snapshot.Create(t.Context(), fsys, "before", nil)
	require.NoError(t, err)
	was, err := fsys.Sum(t.Context(), "f")
	require.NoError(t, err)
	write(t, fsys, "f", "new")
	require.NoError(t, fsys.Remove(t.Context(), "dir"))
	require.NoError(t, fsys.Remove(t.Context(), "gone"))

	sums := make(map[string][2]*vfs.Sum)
	for c, err := range snapshot.DiffSums(t.Context(), before, fsys) {
		require.NoError(t, err)
		sums[c.Path] = [2]*vfs.Sum{c.OldSum, c.NewSum}
	}
	is := vfs.SumOf([]byte("new"))
	require.Equal(t, [2]*vfs.Sum{&was, &is}, sums["f"])
	require.Equal(t, [2]*vfs.Sum{}, sums["dir"])
	require.NotNil(t, sums["gone"][0])
	require.Nil(t, sums["gone"][1])
}

package snapshot_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A branch has the history of its ancestors up to the forks. Their later events are not its own.
func TestLogOfBranches(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "one", "one")
	base, err := snapshot.Create(ctx, fsys, "base", nil)
	require.NoError(t, err)
	vfstest.Write(t, fsys, "later", "")
	try, err := snapshot.Branch(ctx, fsys, base, "try")
	require.NoError(t, err)
	vfstest.Write(t, try, "mine", "")
	require.Equal(t, []string{"create one ->'one' +3", "snapshot . (base)", "create mine ->''"}, vfstest.Log(t, try, nil))
	require.Equal(t, []string{"create one ->'one' +3", "snapshot . (base)"}, vfstest.Log(t, base.FS, nil))
	require.Equal(t, []string{"create one ->'one' +3", "snapshot . (base)", "create later ->''", "branch . (try base)"}, vfstest.Log(t, fsys, nil))

	require.NoError(t, snapshot.RenameBranch(ctx, fsys, "try", "best"))
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "best"))
	require.NoError(t, snapshot.Delete(ctx, fsys, "base"))
	require.Equal(t, []string{"snapshot-delete . (base)", "branch-delete . (best)", "branch-rename . (try best)"},
		vfstest.Log(t, fsys, &vfs.LogOptions{Newest: true, Max: 3}))
}

// A watcher gets the events of its prefix, and can go on where it stopped.
func TestWatch(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "src/a", "one")
	vfstest.Write(t, fsys, "src2/a", "one")
	require.NoError(t, fsys.Rename(ctx, "src", "gone"))
	require.NoError(t, fsys.Rename(ctx, "src2", "src"))
	base, err := snapshot.Create(ctx, fsys, "base", nil)
	require.NoError(t, err)
	require.NoError(t, fsys.RemoveAll(ctx, "src"))
	_, err = snapshot.Restore(ctx, fsys, base)
	require.NoError(t, err)
	try, err := snapshot.Branch(ctx, fsys, fsys, "try")
	require.NoError(t, err)
	vfstest.Write(t, try, "src/a", "not on this branch")
	vfstest.Write(t, fsys, "src/a", "three")
	want := []string{
		"create src/a ->'one' +3", "rename gone (src)", "rename src (src2)", "removeall src", "restore src", "write src/a 'one'->'three' +2",
	}
	lines, _ := vfstest.Take(t, fsys, "/src/./a", 0, 6)
	require.Equal(t, want, lines)
	lines, last := vfstest.Take(t, fsys, "src", 0, 4)
	require.Equal(t, append([]string{"mkdir src"}, want[:3]...), lines)
	lines, _ = vfstest.Take(t, fsys, "src", last, 3)
	require.Equal(t, want[3:], lines)

	jail, err := fsys.OpenRoot(ctx, "src")
	require.NoError(t, err)
	lines, _ = vfstest.Take(t, jail, "a", last, 3)
	require.Equal(t, want[3:], lines, "paths are from the root of the branch")

	for _, err := range base.Watch(ctx, "", 0) {
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	for _, err := range fsys.Watch(ctx, "", 5000) {
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "try"))
	for _, err := range try.Watch(ctx, "", 0) {
		require.ErrorIs(t, err, syscall.ESTALE)
	}
}

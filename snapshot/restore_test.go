package snapshot_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Restore across branches: the head becomes what the other branch is.
func TestRestoreFromBranch(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "a", "dir/b")
	try, err := snapshot.Branch(ctx, fsys, fsys, "try")
	require.NoError(t, err)
	write(t, try, "a", "better")
	require.NoError(t, try.Rename(ctx, "dir", "renamed"))
	write(t, fsys, "junk", "junk")
	undo, err := snapshot.Restore(ctx, fsys, try)
	require.NoError(t, err)
	require.Equal(t, "before restore of try", undo.Info.Note)
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
	undo, err = snapshot.Restore(ctx, try, fsys)
	require.NoError(t, err)
	require.Equal(t, "before restore of main", undo.Info.Note, "the branch is named, and not the file")
	past, err := snapshot.Open(ctx, fsys, "none")
	require.Nil(t, past)
	require.Error(t, err)
}

// A restore records an event for each path that it changes.
func TestRestoreIsRecorded(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	for name, content := range map[string]string{"same": "one", "edited": "one", "dir/moved": "one", "dir/sub/deep": "one", "gone": "one"} {
		vfstest.Write(t, fsys, name, content)
	}
	base, err := snapshot.Create(ctx, fsys, "base", nil)
	require.NoError(t, err)
	vfstest.Write(t, fsys, "edited", "three")
	require.NoError(t, fsys.Rename(ctx, "dir/moved", "elsewhere"))
	require.NoError(t, fsys.Rename(ctx, "dir/sub", "sub"))
	require.NoError(t, fsys.Remove(ctx, "gone"))
	vfstest.Write(t, fsys, "new", "link")
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	undo, err := snapshot.Restore(ctx, fsys, base)
	require.NoError(t, err)
	require.Equal(t, []string{
		"snapshot . (" + undo.Info.Name + ")", "restore dir/moved ->'one' +3", "restore dir/sub", "restore edited 'three'->'one' -2",
		"restore elsewhere 'one'-> -3", "restore gone ->'one' +3", "restore new 'link'-> -4", "restore sub",
	}, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))
}

// A restore replaces the uncommitted writes of open files, and its undo brings them back.
func TestUndoHasUncommittedWrites(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	base := vfstest.Snapshot(t, fsys, "base")
	f, err := fsys.OpenFile(ctx, "f", os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("written"), 0)
	require.NoError(t, err)
	undo, err := snapshot.Restore(ctx, fsys, base)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, "f", vfstest.Read(t, fsys, "f"))
	_, err = snapshot.Restore(ctx, fsys, undo)
	require.NoError(t, err)
	require.Equal(t, "written", vfstest.Read(t, fsys, "f"))
}

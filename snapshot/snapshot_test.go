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

// A snapshot has the present name of its branch, even if the branch was renamed after the FS was made.
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

// Deleting a snapshot in a transaction is an event of the branch whose moment it is.
func TestDeleteInIsRecorded(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	other := vfstest.Branch(t, vfstest.Snapshot(t, fsys, "mine"), "other")
	vfstest.Snapshot(t, other, "theirs")
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		require.ErrorIs(t, snapshot.DeleteIn(tx, "none"), syscall.ENOENT)
		if err := snapshot.DeleteIn(tx, "theirs"); err != nil {
			return err
		}
		return snapshot.DeleteIn(tx, "mine")
	}))
	require.Equal(t, []string{"snapshot-delete . (mine)"}, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))
	require.Equal(t, []string{"snapshot-delete . (theirs)"}, vfstest.Log(t, other, &vfs.LogOptions{Since: since}))
}

// A snapshot that is deleted still answers while something else keeps its moment.
func TestDeletedSnapshot(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	s := vfstest.Snapshot(t, fsys, "s")
	vfstest.Branch(t, s, "fork")
	require.NoError(t, snapshot.Delete(ctx, fsys, "s"))
	require.Equal(t, "a", vfstest.Read(t, s.FS, "a"))
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "fork"))
	_, err := s.ReadFile(ctx, "a")
	require.ErrorIs(t, err, syscall.ESTALE)
}

package snapshot_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Snapshots and restores are parts of a transaction: with it they happen, or not.
func TestWithin(t *testing.T) {
	fsys := vfstest.New(t, "a")
	ctx := t.Context()
	var first, second snapshot.Info
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) (err error) {
		if first, err = snapshot.CreateIn(tx, "", "the first"); err != nil {
			return err
		}
		changed, err := tx.ChangedSince(first.Moment)
		require.False(t, changed)
		if err == nil {
			err = tx.WriteFile("a", []byte("2"), 0o644)
		}
		return err
	}))
	require.Equal(t, "main", first.Branch)
	then, err := snapshot.At(ctx, fsys, first)
	require.NoError(t, err)
	require.Equal(t, "a", vfstest.Read(t, then.FS, "a"))

	restore := func(tx *vfs.Tx) (err error) {
		changed, err := tx.ChangedSince(first.Moment)
		require.True(t, changed)
		if err == nil {
			second, err = snapshot.RestoreIn(tx, then, "undone", "the second")
		}
		return err
	}
	require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		require.NoError(t, restore(tx))
		return syscall.EDQUOT
	}), syscall.EDQUOT)
	require.Equal(t, "2", vfstest.Read(t, fsys, "a"))
	require.NoError(t, fsys.Update(ctx, restore))
	require.Equal(t, "a", vfstest.Read(t, fsys, "a"))

	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		list, err := snapshot.ListIn(tx, fsys.Moment().Branch)
		require.Equal(t, []snapshot.Info{first, second}, list)
		require.NoError(t, err)
		_, err = tx.ChangedSince(vfs.Moment{Branch: 1, Epoch: 2})
		require.ErrorIs(t, err, syscall.EINVAL)
		return snapshot.DeleteIn(tx, "undone")
	}))
	_, err = snapshot.Open(ctx, fsys, "undone")
	require.ErrorIs(t, err, syscall.ENOENT)
}

// A snapshot that is deleted within a transaction stands in the log, as one of the branch that it is a moment of.
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
	require.Equal(t, []string{"snapshot-delete . (mine)"}, vfstest.Told(t, fsys, &vfs.LogOptions{Since: since}))
	require.Equal(t, []string{"snapshot-delete . (theirs)"}, vfstest.Told(t, other, &vfs.LogOptions{Since: since}))
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

// What an open file has not committed is replaced by a restore, and brought back by the undo of it.
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

package snapshot_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/search"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Snapshots and restores in a transaction happen with it, or not at all.
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

// Two Txs of one transaction on the same head share its epoch: neither writes into a moment that the other has frozen,
// neither at once nor when the inodes are flushed at the end.
func TestOnAfterFreeze(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/f", "d/g")
	sub, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	var info snapshot.Info
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		on, err := vfstest.On(tx, sub)
		require.NoError(t, err)
		info, err = snapshot.CreateIn(tx, "before", "")
		require.NoError(t, err)
		require.NoError(t, tx.Chmod("d/f", 0o777))
		require.NoError(t, on.WriteFile("new", []byte("new"), 0o644))
		return on.WriteFile("g", []byte("after"), 0o644)
	}))
	before, err := snapshot.At(ctx, fsys, info)
	require.NoError(t, err)
	f, err := before.Stat(ctx, "d/f")
	require.NoError(t, err)
	require.EqualValues(t, 0o644, f.Mode())
	require.Equal(t, "d/g", vfstest.Read(t, before.FS, "d/g"))
	require.Equal(t, "after", vfstest.Read(t, fsys, "d/g"))
	list, err := search.Glob(ctx, before, "d/**/*")
	require.NoError(t, err)
	require.Equal(t, []string{"d/f", "d/g"}, list)
}

// Once committed, a call succeeds and returns its tree, even if nothing can be read any more. An error would make the
// caller try again, and meet EEXIST.
func TestNothingFailsAfterTheCommit(t *testing.T) {
	fsys := vfstest.New(t, "a")
	require.NoError(t, fsys.Mkdir(t.Context(), "d", 0o755))

	s, err := snapshot.Create(vfstest.UntilCommit(t.Context(), fsys), fsys, "s", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "d/"}, vfstest.Names(t, s.FS))
	vfstest.Write(t, fsys, "b", "b")
	for name, base := range map[string]snapshot.Tree{"of-head": fsys, "of-snapshot": s, "of-nothing": nil} {
		made, err := snapshot.Branch(vfstest.UntilCommit(t.Context(), fsys), fsys, base, name)
		require.NoError(t, err, name)
		require.Equal(t, name, made.Head())
		want := map[string][]string{"of-head": {"a", "b", "d/"}, "of-snapshot": {"a", "d/"}}[name]
		require.Equal(t, want, vfstest.Names(t, made))
		vfstest.Write(t, made, "c", "c")
		require.Equal(t, "c", vfstest.Read(t, made, "c"))
	}
	undo, err := snapshot.Restore(vfstest.UntilCommit(t.Context(), fsys), fsys, s)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "d/"}, vfstest.Names(t, undo.FS))
	require.Equal(t, []string{"a", "d/"}, vfstest.Names(t, fsys))
}

// A tree that was made in a transaction that failed leaves nothing in the caches about levels that do not exist.
func TestTreeOfNoCommit(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	at, err := snapshot.Branch(ctx, fsys, fsys, "one")
	require.NoError(t, err)
	vfstest.Write(t, at, "b", "b")
	require.Error(t, at.Update(ctx, func(tx *vfs.Tx) error {
		moment, err := (*tree.Tx)(tx).Freeze()
		require.NoError(t, err)
		require.NoError(t, (*tree.Tx)(tx).Fork(moment, "two"))
		_, err = (*tree.Tx)(tx).Tree().Store().HeadIn((*tree.Tx)(tx).DB(), "two")
		require.NoError(t, err)
		return errors.New("no")
	}))
	vfstest.Write(t, at, "later", "later")
	two, err := snapshot.Branch(ctx, at, at, "two")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "later"}, vfstest.Names(t, two))
	require.Equal(t, "later", vfstest.Read(t, two, "later"))
}

// A transaction that has ended restores nothing, and names nothing.
func TestKeptTxRestoresNothing(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	then := vfstest.Snapshot(t, fsys, "then")
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("later"), 0o644))
	var kept *vfs.Tx
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		kept = tx
		_, err := tx.Stat("f") // so that it is in memory
		return err
	}))

	_, err := snapshot.RestoreIn(kept, then, "", "")
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = snapshot.CreateIn(kept, "now", "")
	require.ErrorIs(t, err, fs.ErrClosed)
	require.Equal(t, "later", vfstest.Read(t, fsys, "f"))
	list, err := snapshot.List(ctx, fsys)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

package snapshot_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// What is committed is reported, with a tree to go on with, though nothing can be read any more: else it would be tried
// again, and be EEXIST.
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

// A tree that was made within a transaction which failed has taught nothing about levels that there are not.
func TestTreeOfNoCommit(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	at, err := snapshot.Branch(ctx, fsys, fsys, "one")
	require.NoError(t, err)
	vfstest.Write(t, at, "b", "b")
	require.Error(t, at.Update(ctx, func(tx *vfs.Tx) error {
		moment, err := tx.Freeze()
		require.NoError(t, err)
		require.NoError(t, tx.Fork(moment, "two"))
		_, err = tx.Branch("two")
		require.NoError(t, err)
		return errors.New("no")
	}))
	vfstest.Write(t, at, "later", "later")
	two, err := snapshot.Branch(ctx, at, at, "two")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "later"}, vfstest.Names(t, two))
	require.Equal(t, "later", vfstest.Read(t, two, "later"))
}

package snapshot_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Two Txs of one transaction that stand on the same head are one in what they do to it: neither writes into a moment
// that the other has frozen, be it at once or when the inodes are written at the end.
func TestOnAfterFreeze(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/f", "d/g")
	sub, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	var info snapshot.Info
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		on, err := tx.On(sub)
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
	list, err := before.List(ctx, "")
	require.NoError(t, err)
	require.Equal(t, []string{"d/f", "d/g"}, list)
}

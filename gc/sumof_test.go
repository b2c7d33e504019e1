package gc_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Content that nothing needs any more may be gone, which is no damage.
func TestSumOfCollected(t *testing.T) {
	ctx, fsys := t.Context(), vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "a", []byte("old"), 0o644))
	info, err := fsys.Stat(ctx, "a")
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(ctx, "a", []byte("new"), 0o644))
	_, err = gc.Run(ctx, fsys, nil)
	require.NoError(t, err)
	err = fsys.View(ctx, func(tx *vfs.Tx) error {
		_, err := tx.SumOf(info)
		return err
	})
	require.ErrorIs(t, err, syscall.ESTALE)
	require.NotErrorIs(t, err, vfs.ErrCorrupt)
}

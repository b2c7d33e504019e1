package vfs_test

import (
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// Offsets at the end of what a number holds are refused, and what was written before stays.
func TestHugeOffsets(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	f, err := fsys.Create(ctx, "f")
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("good"), 0)
	require.NoError(t, err)
	for _, off := range []int64{math.MaxInt64 - 5, math.MaxInt64, 1 << 51} {
		_, err = f.WriteAt([]byte("0123456789"), off)
		require.ErrorIs(t, err, syscall.EFBIG)
	}
	_, err = f.WriteAt([]byte("x"), -1)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorIs(t, f.Truncate(math.MaxInt64), syscall.EFBIG)
	require.NoError(t, f.Close())
	require.Equal(t, "good", vfstest.Read(t, fsys, "f"))
}

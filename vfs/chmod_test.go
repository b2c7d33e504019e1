package vfs_test

import (
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// An owner that 32 bits do not hold is not taken for another, such as root.
func TestHugeOwners(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	if math.MaxInt == math.MaxInt32 {
		t.Skip("there are none")
	}
	largest := int64(math.MaxUint32)
	require.NoError(t, fsys.Chown(ctx, "f", 7, int(largest)))
	for _, id := range []int64{largest + 1, 2*largest + 9, math.MinInt64} {
		require.ErrorIs(t, fsys.Chown(ctx, "f", int(id), -1), syscall.EINVAL)
		require.ErrorIs(t, fsys.Lchown(ctx, "f", -1, int(id)), syscall.EINVAL)
	}
	info, err := fsys.Stat(ctx, "f")
	require.NoError(t, err)
	uid, gid := info.Owner()
	require.Equal(t, []int64{7, largest}, []int64{int64(uid), int64(gid)})
}

// Times that cannot be stored become the nearest that can.
func TestTimes(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	for _, tt := range []struct{ set, want time.Time }{
		{time.Unix(0, 0), time.Unix(0, 0)},
		{time.Unix(-1, 5), time.Unix(-1, 5)},
		{time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, math.MaxInt64)},
		{time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, math.MinInt64)},
	} {
		require.NoError(t, fsys.Chtimes(ctx, "f", time.Time{}, tt.set))
		info, err := fsys.Stat(ctx, "f")
		require.NoError(t, err)
		require.True(t, tt.want.Equal(info.ModTime()), "%v", tt.set)
		require.NoError(t, fsys.Copy(ctx, "f", "g"))
		info, err = fsys.Stat(ctx, "g")
		require.NoError(t, err)
		require.True(t, tt.want.Equal(info.ModTime()), "a copy of %v", tt.set)
	}
}

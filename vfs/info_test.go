package vfs_test

import (
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// Nanoseconds inside, the time of birth is kept, Lstat shows a symlink itself.
func TestContractStat(t *testing.T) {
	ctx := t.Context()
	before := time.Now()
	fsys := vfstest.New(t, "f")
	require.NoError(t, fsys.Symlink(ctx, "f", "l"))
	when := time.Unix(1709942400, 123456789)
	require.NoError(t, fsys.Chtimes(ctx, "f", time.Time{}, when))
	vfstest.Write(t, fsys, "g", "")
	info, err := fsys.Stat(ctx, "l")
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
	require.True(t, when.Equal(info.ModTime()))
	require.False(t, info.BirthTime().Before(before))
	require.False(t, info.ChangeTime().Before(info.BirthTime()))
	info, err = fsys.Lstat(ctx, "l")
	require.NoError(t, err)
	require.Equal(t, fs.ModeSymlink, info.Mode().Type())
	require.Equal(t, "f", info.Target())
}

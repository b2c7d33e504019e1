package vfs_test

import (
	"io"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Bytes first; whole, by range, or as a stream that seeks; what is missing is ENOENT.
func TestContractRead(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "dir/")
	vfstest.Write(t, fsys, "f", "0123456789")
	part, err := fsys.ReadRange(ctx, "f", 3, 4)
	require.NoError(t, err)
	require.Equal(t, "3456", string(part))
	f, err := fsys.Open(ctx, "f")
	require.NoError(t, err)
	_, err = f.Seek(-2, io.SeekEnd)
	require.NoError(t, err)
	rest, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "89", string(rest))
	require.NoError(t, f.Close())
	_, err = fsys.ReadFile(ctx, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = fsys.ReadFile(ctx, "dir")
	require.ErrorIs(t, err, syscall.EISDIR)
	for _, bad := range [][2]int64{{-1, 1}, {0, -1}} {
		_, err = fsys.ReadRange(ctx, "f", bad[0], bad[1])
		require.ErrorIs(t, err, syscall.EINVAL)
	}
}

// A file may be longer than any memory, by its holes alone: to read it whole is refused, to read a part of it is not.
func TestReadTooLong(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "small")
	vfstest.Write(t, fsys, "long", "")
	require.NoError(t, fsys.Truncate(ctx, "long", 1<<50))

	_, err := fsys.ReadFile(ctx, "long")
	require.ErrorIs(t, err, syscall.EFBIG)
	_, err = fsys.ReadRange(ctx, "long", 5, vfs.MaxReadSize+1)
	require.ErrorIs(t, err, syscall.EFBIG)
	_, err = fsys.IOFS(ctx).ReadFile("long")
	require.ErrorIs(t, err, syscall.EFBIG)
	part, err := fsys.ReadRange(ctx, "long", 1<<50-10, 20)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 10), part)

	require.NoError(t, fsys.View(ctx, func(tx *vfs.Tx) error {
		_, err := tx.ReadFile("long")
		require.ErrorIs(t, err, syscall.EFBIG)
		_, err = tx.ReadFile("small")
		require.NoError(t, err)
		return nil
	}))
}

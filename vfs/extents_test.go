package vfs_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
)

func TestFileExtents(t *testing.T) {
	fsys := vfstest.New(t, "f", "d/")
	require.NoError(t, fsys.Truncate(t.Context(), "f", 10*chunk.Size))
	f, err := fsys.OpenFrozen(t.Context(), "f")
	require.NoError(t, err)
	extents, err := f.Extents()
	require.NoError(t, err)
	require.Equal(t, []chunk.Extent{{Off: 0, Len: chunk.Size}}, extents)
	require.NoError(t, f.Close())
	_, err = f.Extents()
	require.ErrorIs(t, err, fs.ErrClosed)

	d, err := fsys.OpenFrozen(t.Context(), "d")
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Extents()
	require.ErrorIs(t, err, syscall.EISDIR)
	live, err := fsys.Open(t.Context(), "f")
	require.NoError(t, err)
	defer live.Close()
	_, err = live.Extents()
	require.ErrorIs(t, err, syscall.EBADF)
}

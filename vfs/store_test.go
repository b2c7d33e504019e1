package vfs_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// The switch holds for each door, for a transaction that runs, and can be thrown back.
func TestSetReadOnly(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "file", "dir/")
	f, err := fsys.Create(ctx, "open")
	require.NoError(t, err)
	_, err = f.Write([]byte("before the switch"))
	require.NoError(t, err)
	sub, err := fsys.OpenRoot(ctx, "dir")
	require.NoError(t, err)

	fsys.Store().SetReadOnly(true)
	require.ErrorIs(t, fsys.WriteFile(ctx, "file", nil, 0o644), syscall.EROFS)
	require.ErrorIs(t, sub.Mkdir(ctx, "x", 0o755), syscall.EROFS)
	_, err = fsys.WriteFrom(ctx, "file", strings.NewReader("stream"), 0o644)
	require.ErrorIs(t, err, syscall.EROFS)
	_, err = fsys.Create(ctx, "new")
	require.ErrorIs(t, err, syscall.EROFS)
	require.ErrorIs(t, f.Sync(), syscall.EROFS)
	require.Equal(t, "file", vfstest.Read(t, fsys, "file"))
	reader, err := fsys.Open(ctx, "file")
	require.NoError(t, err, "what is open to read is still made known to collectors")
	require.NoError(t, (*tree.Tree)(fsys).PublishPins(ctx))
	require.NoError(t, reader.Close())

	fsys.Store().SetReadOnly(false)
	require.NoError(t, f.Close())
	require.Equal(t, "before the switch", vfstest.Read(t, fsys, "open"), "nothing of it was lost")
	err = fsys.Update(ctx, func(tx *vfs.Tx) error {
		fsys.Store().SetReadOnly(true)
		return tx.WriteFile("file", []byte("too late"), 0o644)
	})
	require.ErrorIs(t, err, syscall.EROFS)
	fsys.Store().SetReadOnly(false)
	require.Equal(t, "file", vfstest.Read(t, fsys, "file"))
}

package vfs_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// A copy writes no chunk.
func TestCopySharesContent(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "d/big", random(3<<20), 0o640, vfs.Parents()))
	require.NoError(t, fsys.Link(ctx, "d/big", "d/link"))
	require.NoError(t, fsys.Symlink(ctx, "big", "d/sym"))
	blobs := vfstest.Number(t, fsys, `SELECT count(*) FROM blob`)
	require.NoError(t, fsys.Copy(ctx, "d", "e"))
	require.Equal(t, blobs, vfstest.Number(t, fsys, `SELECT count(*) FROM blob`))
	a, err := fsys.Stat(ctx, "d/big")
	require.NoError(t, err)
	b, err := fsys.Stat(ctx, "e/big")
	require.NoError(t, err)
	require.True(t, a.SameContent(b))
	require.NotEqual(t, a.Ino(), b.Ino())
	require.Equal(t, a.Mode(), b.Mode())
	require.Equal(t, a.ModTime(), b.ModTime())
	require.Equal(t, 2, b.Nlink(), "two names of one file are two names of one copy")
	require.NoError(t, fsys.WriteFile(ctx, "e/big", []byte("x"), 0o644))
	require.Equal(t, "x", vfstest.Read(t, fsys, "e/link"))
	require.Len(t, vfstest.Read(t, fsys, "d/big"), 3<<20)

	require.ErrorIs(t, fsys.Copy(ctx, "d", "d/in"), syscall.EINVAL)
	require.ErrorIs(t, fsys.Copy(ctx, "d", "d"), syscall.EINVAL)
	require.ErrorIs(t, fsys.Copy(ctx, "/", "/"), syscall.EINVAL)
	require.NoError(t, fsys.Copy(ctx, "d/big", "d/big"))
	require.ErrorIs(t, fsys.Copy(ctx, "d", "e/big"), syscall.ENOTDIR)
	require.ErrorIs(t, fsys.Copy(ctx, "d/big", "e"), syscall.EISDIR)
	require.ErrorIs(t, fsys.Copy(ctx, "d/big", "e/big", vfs.NoReplace()), syscall.EEXIST)
	require.NoError(t, fsys.Copy(ctx, "d/big", "e/big"))
}

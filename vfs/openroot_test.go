package vfs_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// OpenRoot is a view that neither `..` nor symlinks leave.
func TestOpenRoot(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "secret", "jail/in", "jail/sub/deep")
	require.NoError(t, fsys.Symlink(ctx, "../secret", "jail/rel"))
	require.NoError(t, fsys.Symlink(ctx, "/secret", "jail/abs"))
	require.NoError(t, fsys.Symlink(ctx, "/in", "jail/ok"))
	jail, err := fsys.OpenRoot(ctx, "jail")
	require.NoError(t, err)
	require.Equal(t, "jail/in", vfstest.Read(t, jail, "/ok"))
	for _, name := range []string{"rel", "abs", "../secret", "sub/../../secret"} {
		_, err := jail.ReadFile(ctx, name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	require.ErrorIs(t, jail.RemoveAll(ctx, "/"), syscall.EPERM)
	require.NoError(t, fsys.Rename(ctx, "jail", "cell"))
	vfstest.Write(t, jail, "new", "x")
	require.Equal(t, "x", vfstest.Read(t, fsys, "cell/new"), "a rename does not matter")
	require.NoError(t, fsys.RemoveAll(ctx, "cell"))
	_, err = jail.ReadFile(ctx, "in")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = fsys.OpenRoot(ctx, "secret")
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

// Where the directory of an OpenRoot is gone, no directories are made on the way to a file either, and that is the
// reason given.
func TestMkdirAllInWhatIsGone(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/e/")
	sub, err := fsys.OpenRoot(ctx, "d/e")
	require.NoError(t, err)
	require.NoError(t, fsys.RemoveAll(ctx, "d"))
	require.ErrorIs(t, sub.MkdirAll(ctx, "x/y", 0o755), syscall.ENOENT)
	require.ErrorIs(t, sub.WriteFile(ctx, "x/y", nil, 0o644, vfs.Parents()), syscall.ENOENT)
}

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

// An event below OpenRoot has the numbers of inodes in that directory, and no others.
func TestNumbersBelowOpenRoot(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "jail/in", "jail/over", "jail/dir/x", "out/y", "out/z", "out/over")
	jail, err := fsys.OpenRoot(ctx, "jail")
	require.NoError(t, err)
	number := func(name string) vfs.Ino {
		info, err := fsys.Lstat(ctx, name)
		require.NoError(t, err)
		return info.Ino()
	}
	root, dir := number("jail"), number("jail/dir")
	in, over, x, y, z := number("jail/in"), number("jail/over"), number("jail/dir/x"), number("out/y"), number("out/z")

	type numbers = [4]vfs.Ino // ino, dir, argdir, displaced
	numbersOf := func(e vfs.Event) numbers { return numbers{e.Ino, e.Dir, e.ArgDir, e.Displaced} }
	for _, tt := range []struct {
		name string
		do   func(tx *vfs.Tx) error
		want numbers
	}{
		{"within", func(tx *vfs.Tx) error { return tx.Rename("jail/dir/x", "jail/x") }, numbers{x, root, dir, 0}},
		{"into", func(tx *vfs.Tx) error { return tx.Rename("out/y", "jail/over") }, numbers{y, root, 0, over}},
		{"out", func(tx *vfs.Tx) error { return tx.Rename("jail/in", "out/over") }, numbers{in, 0, root, 0}},
		{"a link to outside", func(tx *vfs.Tx) error { return tx.Link("out/z", "jail/z") }, numbers{z, root, 0, 0}},
		{"the directory itself", func(tx *vfs.Tx) error { return tx.Chmod("jail", 0o700) }, numbers{root, 0, 0, 0}},
		{"a new name of the directory", func(tx *vfs.Tx) error { return tx.Rename("jail", "prison") }, numbers{root, 0, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			since, err := fsys.Seq(ctx)
			require.NoError(t, err)
			require.NoError(t, fsys.Update(ctx, tt.do))
			for e, err := range jail.Watch(ctx, "", since) {
				require.NoError(t, err)
				require.Equal(t, tt.want, numbersOf(e))
				break
			}
			events, err := jail.Log(ctx, &vfs.LogOptions{Path: ".", Since: since})
			require.NoError(t, err)
			require.Len(t, events, 1)
			require.Equal(t, tt.want, numbersOf(events[0]))
		})
	}

	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	require.NoError(t, fsys.Mkdir(ctx, "elsewhere", 0o755))
	require.NoError(t, fsys.RemoveAll(ctx, "prison"))
	events, err := jail.Log(ctx, &vfs.LogOptions{Since: since})
	require.NoError(t, err)
	require.Len(t, events, 3)
	for _, e := range events {
		require.Equal(t, numbers{}, numbersOf(e), "what is elsewhere, and a directory that no path leads to")
	}
}

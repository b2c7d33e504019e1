package vfs_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/search"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A name means the file that it meant when it was opened; another file in its place does not answer.
func TestMovedFile(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	t.Chdir(dir)
	fsys, err := vfs.Open(ctx, "a.db", nil)
	require.NoError(t, err)
	defer fsys.Close()
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("ours"), 0o644))
	t.Chdir(t.TempDir())
	other, err := vfs.Open(ctx, "a.db", nil)
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.Equal(t, "ours", vfstest.Read(t, fsys, "f"))

	require.NoError(t, fsys.View(ctx, func(*vfs.Tx) error { // the idle reader is in use, so another is opened
		require.NoError(t, os.Rename(filepath.Join(dir, "a.db"), filepath.Join(dir, "moved.db")))
		_, err := fsys.ReadDir(ctx, ".")
		require.ErrorIs(t, err, syscall.ESTALE)
		require.Equal(t, "ours", vfstest.Read(t, fsys, "f"), "what is known needs no reader")
		return nil
	}))
	require.NoError(t, os.Rename(filepath.Join(dir, "moved.db"), filepath.Join(dir, "a.db")))
	require.Equal(t, "ours", vfstest.Read(t, fsys, "f"))
}

func TestOpenMakesNothingForABranch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	_, err := vfs.Open(t.Context(), path, &vfs.Options{Branch: "none"})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = os.Stat(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Moments that are not past, or not there, are neither stood on nor forked; nor is a part of a tree. One that nothing keeps is
// not stood on, and can be forked as long as it is whole.
func TestMomentsAreGuarded(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/a")
	head := fsys.Moment()
	_, err := fsys.At(ctx, head)
	require.ErrorIs(t, err, syscall.EINVAL)
	for _, at := range []vfs.Moment{{Branch: head.Branch, Epoch: 2}, {Branch: 77777, Epoch: 2}} {
		_, err := fsys.At(ctx, at)
		require.ErrorIs(t, err, syscall.ESTALE)
	}
	for _, at := range []vfs.Moment{head, {Branch: head.Branch, Epoch: 1 << 40}, {Branch: 77777, Epoch: 2}} {
		require.Error(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return (*tree.Tx)(tx).Fork(at, "b") }))
	}
	var past vfs.Moment // which nothing keeps
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) (err error) { past, err = (*tree.Tx)(tx).Freeze(); return err }))
	_, err = fsys.At(ctx, past)
	require.ErrorIs(t, err, syscall.ESTALE)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return (*tree.Tx)(tx).Fork(past, "b") }))
	jail, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	require.ErrorIs(t, vfstest.Restore(ctx, jail, fsys), syscall.EINVAL)
	require.ErrorIs(t, jail.Update(ctx, func(tx *vfs.Tx) error { _, err := (*tree.Tx)(tx).Freeze(); return err }), syscall.EINVAL)
}

// A branch starts from the revision it is given, a moment stays what it was, and what a restore
// replaced can still be reached.
func TestContractHistory(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "f", "1")
	one := vfstest.Snapshot(t, fsys, "one")
	vfstest.Write(t, fsys, "f", "2")
	two := vfstest.Snapshot(t, fsys, "two")
	old := vfstest.Branch(t, one, "old")
	require.Equal(t, "1", vfstest.Read(t, old, "f"))
	require.NoError(t, vfstest.Restore(ctx, fsys, one))
	require.Equal(t, "1", vfstest.Read(t, fsys, "f"))
	again, err := fsys.At(ctx, two.Moment())
	require.NoError(t, err)
	require.Equal(t, "2", vfstest.Read(t, again, "f"))
}

// A pool of so many readers lets so many Views run at once. The next one waits until one ends, or its context does;
// verbs, which need one connection each, work with a pool of one.
func TestMaxReaders(t *testing.T) {
	ctx := t.Context()
	for _, most := range []int{1, 2} {
		fsys, err := vfs.Open(ctx, filepath.Join(t.TempDir(), "pool.db"), &vfs.Options{MaxReaders: most})
		require.NoError(t, err)
		nothing := func(*vfs.Tx) error { return nil }

		var within func(depth int) error
		within = func(depth int) error {
			if depth == 0 {
				waiting, end := context.WithTimeout(ctx, 50*time.Millisecond)
				defer end()
				require.Error(t, fsys.View(waiting, nothing), "all are taken")
				return nil
			}
			return fsys.View(ctx, func(*vfs.Tx) error { return within(depth - 1) })
		}
		require.NoError(t, within(most))
		require.NoError(t, fsys.View(ctx, nothing))

		require.NoError(t, fsys.WriteFile(ctx, "d/a", []byte("needle"), 0o644, vfs.Parents()))
		r, err := search.Grep(ctx, fsys, "needle", nil)
		require.NoError(t, err)
		require.Len(t, r.Matches, 1)
		require.NoError(t, fsys.Close())
	}
	_, err := vfs.Open(ctx, filepath.Join(t.TempDir(), "pool.db"), &vfs.Options{MaxReaders: -1})
	require.ErrorIs(t, err, syscall.EINVAL)
}

package vfs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// A write says what it wrote, and what failed, or was undone, says nothing.
func TestSumTo(t *testing.T) {
	ctx, fsys := t.Context(), vfstest.New(t)
	long := bytes.Repeat([]byte("long"), chunk.Size)
	var got vfs.Sum
	for _, data := range [][]byte{nil, []byte("short"), long} {
		n, err := fsys.WriteFrom(ctx, "a", bytes.NewReader(data), 0o644, vfs.SumTo(&got))
		require.NoError(t, err)
		require.EqualValues(t, len(data), n)
		require.Equal(t, sumNow(t, fsys, "a"), got)
	}
	require.NoError(t, fsys.WriteFile(ctx, "a", []byte("x"), 0o644, vfs.SumTo(&got)))
	require.Equal(t, chunk.SumOf([]byte("x")), got)
	require.NoError(t, fsys.Append(ctx, "a", []byte("y"), 0o644, vfs.SumTo(&got)))
	require.Equal(t, chunk.SumOf([]byte("xy")), got)

	want := got
	undone := errors.New("undone")
	require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		return errors.Join(tx.WriteFile("a", []byte("z"), 0o644, vfs.SumTo(&got)), undone)
	}), undone)
	require.Error(t, fsys.WriteFile(ctx, "a", []byte("z"), 0o644, vfs.IfAbsent(), vfs.SumTo(&got)))
	require.Equal(t, want, got)
	require.ErrorIs(t, fsys.Rename(ctx, "a", "b", vfs.SumTo(&got)), syscall.EINVAL)
}

// An Info returns the sum of the content that it described, whatever became of the file. An open File returns the sum of
// its committed content.
func TestSumOf(t *testing.T) {
	ctx, fsys := t.Context(), vfstest.New(t, "dir/")
	long := bytes.Repeat([]byte("long"), chunk.Size)
	f, err := fsys.OpenFile(ctx, "a", os.O_RDWR|os.O_CREATE, 0o644)
	require.NoError(t, err)
	defer f.Close()
	for _, data := range [][]byte{nil, []byte("short"), long} {
		require.NoError(t, fsys.WriteFile(ctx, "a", data, 0o644))
		want := sumNow(t, fsys, "a")
		info, err := fsys.Stat(ctx, "a")
		require.NoError(t, err)
		now, err := f.Sum()
		require.NoError(t, err)
		require.Equal(t, want, now)

		require.NoError(t, fsys.WriteFile(ctx, "a", []byte("another"), 0o644))
		then, err := sumThen(t, fsys, info)
		require.NoError(t, err)
		require.Equal(t, want, then)
	}
	_, err = f.WriteAt([]byte("A"), 0)
	require.NoError(t, err)
	now, err := f.Sum()
	require.NoError(t, err)
	require.Equal(t, chunk.SumOf([]byte("another")), now)
	require.NoError(t, f.Sync())
	now, err = f.Sum()
	require.NoError(t, err)
	require.Equal(t, chunk.SumOf([]byte("Another")), now)

	dir, err := fsys.Stat(ctx, "dir")
	require.NoError(t, err)
	_, err = sumThen(t, fsys, dir)
	require.ErrorIs(t, err, syscall.EISDIR)
	var at *fs.PathError
	require.ErrorAs(t, err, &at)
}

// sumThen returns the sum of the content that a file had when info was made.
func sumThen(t *testing.T, fsys *vfs.FS, info *vfs.Info) (sum vfs.Sum, err error) {
	err = fsys.View(t.Context(), func(tx *vfs.Tx) (err error) {
		sum, err = tx.SumOf(info)
		return err
	})
	return sum, err
}

func sumNow(t *testing.T, fsys *vfs.FS, name string) vfs.Sum {
	sum, err := fsys.Sum(t.Context(), name)
	require.NoError(t, err)
	return sum
}

// Content that nothing needs any more may be gone, which is no damage.
func TestSumOfCollected(t *testing.T) {
	ctx, fsys := t.Context(), vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "a", []byte("old"), 0o644))
	info, err := fsys.Stat(ctx, "a")
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(ctx, "a", []byte("new"), 0o644))
	_, err = gc.Run(ctx, fsys, nil)
	require.NoError(t, err)
	err = fsys.View(ctx, func(tx *vfs.Tx) error {
		_, err := tx.SumOf(info)
		return err
	})
	require.ErrorIs(t, err, syscall.ESTALE)
	require.NotErrorIs(t, err, vfs.ErrCorrupt)
}

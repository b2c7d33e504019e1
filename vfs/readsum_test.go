package vfs_test

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Content is found by its sum, one chunk or many, also after its file is gone.
func TestReadSum(t *testing.T) {
	fsys := vfstest.New(t)
	read := func(sum vfs.Sum, limit int64) (data []byte, err error) {
		err = fsys.View(t.Context(), func(tx *vfs.Tx) (err error) {
			data, err = tx.ReadSum(sum, limit)
			return err
		})
		return data, err
	}
	for _, content := range []string{"", "short", strings.Repeat("long ", 300_000)} {
		vfstest.Write(t, fsys, "f", content)
		sum, err := fsys.Sum(t.Context(), "f")
		require.NoError(t, err)
		require.NoError(t, fsys.Remove(t.Context(), "f"))
		got, err := read(sum, int64(len(content)))
		require.NoError(t, err)
		require.Equal(t, content, string(got))
		if content != "" {
			_, err = read(sum, int64(len(content))-1)
			require.ErrorIs(t, err, syscall.EFBIG)
		}
	}
	_, err := read(vfs.SumOf([]byte("never stored")), 1<<30)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// ReadSum returns as much as its caller allows, to the byte.
func TestReadSumTooMuch(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "a", "")
	require.NoError(t, fsys.Truncate(ctx, "a", 100<<20))
	sum, err := fsys.Sum(ctx, "a")
	require.NoError(t, err)
	require.NoError(t, fsys.View(ctx, func(tx *vfs.Tx) error {
		data, err := tx.ReadSum(sum, 100<<20)
		require.NoError(t, err)
		require.Len(t, data, 100<<20)
		data, err = tx.ReadSum(sum, 100<<20-1)
		require.ErrorIs(t, err, syscall.EFBIG)
		require.Empty(t, data)
		return nil
	}))
}

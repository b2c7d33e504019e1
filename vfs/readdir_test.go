package vfs_test

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Pages go by name, so entries that come and go do not disturb the others.
func TestReadDirPage(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/a", "d/c", "d/e", "d/g")
	page, err := fsys.ReadDirPage(ctx, "d", "", 2)
	require.NoError(t, err)
	require.Equal(t, "c", page[1].Name())
	require.NoError(t, fsys.Remove(ctx, "d/a"))
	require.NoError(t, fsys.Remove(ctx, "d/c"))
	vfstest.Write(t, fsys, "d/b", "")
	vfstest.Write(t, fsys, "d/f", "")
	page, err = fsys.ReadDirPage(ctx, "d", "c", 10)
	require.NoError(t, err)
	var names []string
	for _, e := range page {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"e", "f", "g"}, names)
	_, err = fsys.ReadDirPage(ctx, "d/e", "", 1)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.NoError(t, fsys.Remove(ctx, "d/e"))
	_, err = page[0].Info()
	require.ErrorIs(t, err, fs.ErrNotExist, "removed meanwhile")
}

// Entries of a transaction end with it.
func TestEntriesEnd(t *testing.T) {
	fsys := vfstest.New(t, "a")
	var entries []fs.DirEntry
	require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) (err error) {
		entries, err = tx.ReadDir(".")
		return err
	}))
	_, err := entries[0].Info()
	require.ErrorIs(t, err, fs.ErrClosed)
}

// ReadDir gives the direct children with their types, and fails where there is no directory.
func TestContractReadDir(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/file", "d/sub/below")
	require.NoError(t, fsys.Symlink(ctx, "file", "d/link"))
	entries, err := fsys.ReadDir(ctx, "d")
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.Name(), " ", e.Type()))
	}
	require.Equal(t, []string{"file ----------", "link L---------", "sub d---------"}, got)
	_, err = fsys.ReadDir(ctx, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = fsys.ReadDir(ctx, "d/file")
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

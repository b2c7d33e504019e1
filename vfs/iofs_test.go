package vfs_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

func TestIOFS(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "dir/b", "dir/sub/c", "empty/")
	require.NoError(t, fsys.WriteFile(ctx, "big", random(1<<20+3), 0o644))
	require.NoError(t, fsys.Symlink(ctx, "dir/b", "link"))
	names := []string{"a", "dir/b", "dir/sub/c", "big", "empty"}
	require.NoError(t, fstest.TestFS(fsys.IOFS(ctx), names...))
	require.NoError(t, fsys.View(ctx, func(tx *vfs.Tx) error { return fstest.TestFS(tx.IOFS(), names...) }))

	f, err := fsys.Open(ctx, "big")
	require.NoError(t, err)
	require.NoError(t, iotest.TestReader(f, random(1<<20+3)))
	require.NoError(t, f.Close())

	// os.CopyFS writes the tree out, links and all.
	out := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(out, "x"), fsys.IOFS(ctx)))
	got, err := os.ReadFile(filepath.Join(out, "x/link"))
	require.NoError(t, err)
	require.Equal(t, "dir/b", string(got))
}

package vfs_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/search"
	"vfsdb/vfs"
)

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

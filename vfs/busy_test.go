package vfs_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/vfs"
)

// A verb whose context ends while others write says so, and of what: the lock was not to be had, and why nobody waits
// for it any longer.
func TestWaitOfVerbEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	holder, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	defer holder.Close()
	fsys, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	defer fsys.Close()
	require.NoError(t, holder.Update(t.Context(), func(*vfs.Tx) error {
		for _, fsys := range []*vfs.FS{holder, fsys} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			err := fsys.WriteFile(ctx, "a", nil, 0o644)
			var at *fs.PathError
			require.ErrorAs(t, err, &at)
			require.Equal(t, "a", at.Path)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, syscall.EBUSY)
			errno, ok := vfs.Errno(err)
			require.True(t, ok)
			require.Equal(t, syscall.EBUSY, errno)
		}
		return nil
	}))
}

package vfs_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/vfs"
)

func TestMetrics(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "a.db")
	fsys, err := vfs.Open(ctx, path, nil)
	require.NoError(t, err)
	other, err := vfs.Open(ctx, path, nil)
	require.NoError(t, err)
	start := fsys.Store().Metrics()

	for range 3 {
		require.NoError(t, fsys.WriteFile(ctx, "a", []byte("x"), 0o644))
	}
	undone := errors.New("undone")
	require.ErrorIs(t, fsys.Update(ctx, func(*vfs.Tx) error { return undone }), undone)
	m := fsys.Store().Metrics()
	require.EqualValues(t, 3, m.Commits-start.Commits)
	require.EqualValues(t, 1, m.Undone-start.Undone)
	require.Positive(t, m.LogBytes)
	require.Zero(t, other.Store().Metrics().Commits, "that of another process")

	for range 2 {
		_, err := fsys.ReadFile(ctx, "a")
		require.NoError(t, err)
	}
	read := fsys.Store().Metrics()
	require.Greater(t, read.CacheMisses, m.CacheMisses)
	require.Greater(t, read.CacheHits, m.CacheHits)
	require.Greater(t, read.CacheBytes, m.CacheBytes)
	require.Equal(t, m.Commits, read.Commits)

	require.NoError(t, other.Update(ctx, func(*vfs.Tx) error {
		short, cancel := context.WithTimeout(ctx, time.Second/2)
		defer cancel()
		require.Error(t, fsys.WriteFile(short, "a", nil, 0o644))
		return nil
	}))
	waited := fsys.Store().Metrics()
	require.EqualValues(t, 1, waited.Busy-read.Busy)
	require.Positive(t, waited.LockWait-read.LockWait)

	require.NoError(t, other.Close())
	require.NoError(t, fsys.Close())
	require.GreaterOrEqual(t, fsys.Store().Metrics().Commits, waited.Commits)
}

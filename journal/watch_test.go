package journal_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// A watcher that waits is woken by a commit, by its context, and by the end of the store. Its caller may write.
func TestWatchWaits(t *testing.T) {
	fsys, err := vfs.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	require.NoError(t, fsys.WriteFile(ctx, "f0", nil, 0o644))
	for e, err := range fsys.Watch(ctx, "", 0) {
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, 100, n)
			break
		}
		require.Equal(t, fmt.Sprintf("f%d", n), e.Path)
		if n++; n == 100 {
			cancel()
			continue
		}
		go func() {
			if err := fsys.WriteFile(t.Context(), fmt.Sprintf("f%d", n), nil, 0o644); err != nil {
				t.Error(err)
			}
		}()
	}
	since, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	ended := make(chan error)
	go func() {
		for _, err := range fsys.Watch(t.Context(), "", since) {
			ended <- err
		}
	}()
	require.NoError(t, fsys.Close())
	require.ErrorIs(t, <-ended, fs.ErrClosed)
}

// Many events at once, of which few concern the watcher, while a writer goes on.
func TestWatchBusyWriter(t *testing.T) {
	fsys := vfstest.New(t)
	other := vfstest.Open(t, fsys.Name(), &vfs.Options{Relaxed: true})
	done := make(chan error, 1)
	go func() {
		for i := range 200 {
			err := other.Update(t.Context(), func(tx *vfs.Tx) error {
				for j := range 10 {
					if err := tx.WriteFile(fmt.Sprintf("d%d/f%d", j, i), nil, 0o644, vfs.Parents()); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	lines, _ := vfstest.Take(t, fsys, "d7", 0, 201)
	for i, got := range lines[1:] {
		require.Equal(t, fmt.Sprintf("create d7/f%d ->''", i), got)
	}
	require.NoError(t, <-done)
}

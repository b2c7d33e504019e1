package mount_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// atOnce fails the test if fn takes a minute.
func atOnce(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it waits")
	}
}

// A store that is closed under its live mount returns errors, at once. The mount can be ended, and reports what it has lost.
func TestLiveOfClosedStore(t *testing.T) {
	fsys, err := vfs.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(t.Context(), "a", []byte("text"), 0o644))
	dir, m := live(t, fsys, &mount.LiveOptions{Gather: time.Hour})
	f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteString("changed")
	require.NoError(t, err)
	atOnce(t, func() { require.NoError(t, fsys.Close()) })
	atOnce(t, func() {
		require.ErrorIs(t, f.Sync(), syscall.EIO)
		require.ErrorIs(t, os.WriteFile(filepath.Join(dir, "new"), nil, 0o600), syscall.EIO)
		_, err := os.ReadFile(filepath.Join(dir, "a"))
		require.ErrorIs(t, err, syscall.EIO)
		_, err = os.ReadDir(dir)
		require.ErrorIs(t, err, syscall.EIO)
		require.NoError(t, f.Close())
	})
	atOnce(t, func() { require.ErrorContains(t, m.Unmount(), "changes are lost") })
}

// A branch that is deleted under its live mount is ESTALE to all who use it. The mount can be ended, and reports what was written
// later.
func TestLiveOfDeletedBranch(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "d/b")
	try, err := snapshot.Branch(ctx, fsys, fsys, "try")
	require.NoError(t, err)
	dir, m := live(t, try, nil)
	f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), []byte("new"), 0o600))
	require.NoError(t, f.Sync())
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "try"))
	collect(t, fsys)
	var refused error
	atOnce(t, func() {
		_, refused = f.WriteString("later") // at once, if the kernel asks for the rights first
		require.ErrorIs(t, errors.Join(refused, f.Sync()), syscall.ESTALE)
		require.ErrorIs(t, os.WriteFile(filepath.Join(dir, "more"), nil, 0o600), syscall.ESTALE)
		_, err := os.ReadFile(filepath.Join(dir, "d/b"))
		require.ErrorIs(t, err, syscall.ESTALE)
		require.NoError(t, f.Close())
	})
	atOnce(t, func() {
		if err := m.Unmount(); refused == nil {
			require.ErrorContains(t, err, "changes are lost")
		}
	})
}

// Two mounts of one open store, which share what is written and not committed, show the same in the end.
func TestLiveTwiceOfStore(t *testing.T) {
	fsys := vfstest.New(t)
	first, _ := live(t, fsys, nil)
	second, _ := live(t, fsys, nil)
	var g errgroup.Group
	for i, dir := range []string{first, second} {
		g.Go(func() error {
			for n := range 100 {
				name := filepath.Join(dir, fmt.Sprint(n))
				err := os.WriteFile(name, []byte(strings.Repeat(fmt.Sprint(i), n)), 0o600)
				if err != nil && !errors.Is(err, syscall.ESTALE) {
					return err
				}
				if n%3 == 0 {
					if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
						return err
					}
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	for _, dir := range []string{first, second} {
		d, err := os.Open(dir)
		require.NoError(t, err)
		require.NoError(t, d.Sync())
		require.NoError(t, d.Close())
	}
	soon(t, func() error { return sameAsHost(fsys, first) })
	soon(t, func() error { return sameAsHost(fsys, second) })
}

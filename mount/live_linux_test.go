package mount_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/vfs"
)

// live mounts the head of a branch until the test ends, and returns the directory.
func live(t *testing.T, fsys *vfs.FS, options *mount.LiveOptions) (dir string, m *mount.Mount) {
	t.Helper()
	dir = t.TempDir()
	m, err := mount.Live(t.Context(), fsys, dir, options)
	if errors.Is(err, mount.ErrNotAllowed) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		select {
		case <-m.Done():
		default:
			if err := m.Unmount(); err != nil {
				t.Error(err)
				_ = m.Detach()
			}
		}
	})
	return dir, m
}

// What go-fuse expects of any file system holds.
func TestLivePosix(t *testing.T) {
	for name, test := range posixtest.All {
		t.Run(name, func(t *testing.T) {
			if name == "FcntlFlockLocksFile" {
				t.Skip("it expects a lock to be in the way of the process that has it, as on no host")
			}
			dir, _ := live(t, vfstest.New(t), nil)
			test(t, dir)
		})
	}
}

func TestLive(t *testing.T) {
	fsys := vfstest.New(t, "a", "d/e/f")
	dir, m := live(t, fsys, nil)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d/new"), []byte("hello"), 0o640))
	text, err := os.ReadFile(filepath.Join(dir, "d/new"))
	require.NoError(t, err)
	require.Equal(t, "hello", string(text))
	require.NoError(t, m.Unmount())
	text, err = fsys.ReadFile(t.Context(), "d/new")
	require.NoError(t, err)
	require.Equal(t, "hello", string(text))
}

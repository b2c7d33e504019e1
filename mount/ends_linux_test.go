package mount_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/vfs"
)

// onceDone fails the test unless a mount ends.
func onceDone(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the mount has not ended")
	}
}

// A mount is ended where it is now, although a directory above it was renamed and another one has its name.
func TestUnmountAfterRename(t *testing.T) {
	fsys := vfstest.New(t, "a")
	top := t.TempDir()
	was := filepath.Join(top, "was")
	dir := filepath.Join(was, "dir")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	m := mountOn(t, fsys, dir)

	is := filepath.Join(top, "is now \\ here")
	require.NoError(t, os.Rename(was, is))
	other := mountOn(t, fsys, mkdir(t, dir))
	require.NoError(t, m.Unmount())
	list, err := os.ReadDir(filepath.Join(is, "dir"))
	require.NoError(t, err)
	require.Empty(t, list)
	list, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1, "the other mount stays")
	require.NoError(t, other.Unmount())
}

// A mount that lies under another one is busy, and the other one stays.
func TestUnmountOfCovered(t *testing.T) {
	fsys := vfstest.New(t, "a")
	dir := t.TempDir()
	under := mountOn(t, fsys, dir)
	over := mountOn(t, fsys, dir)
	require.ErrorIs(t, under.Unmount(), syscall.EBUSY)
	require.NoError(t, over.Unmount())
	require.NoError(t, under.Unmount())
	require.NoError(t, under.Unmount(), "again")
	require.NoError(t, under.Detach())
}

// The host may end a mount by itself. Unmount then has nothing to do, and takes no other mount away.
func TestUnmountByHost(t *testing.T) {
	fsys := vfstest.New(t, "a")
	dir := t.TempDir()
	m := mountOn(t, fsys, dir)
	require.NoError(t, unix.Unmount(dir, 0))
	onceDone(t, m.Done())
	other := mountOn(t, fsys, dir)
	require.NoError(t, m.Unmount())
	_, err := os.Stat(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.NoError(t, other.Unmount())
}

// No program that the process starts inherits the device of a mount: it would keep the mount from ending with the process.
func TestMountIsNotInherited(t *testing.T) {
	fsys := vfstest.New(t, "f")
	for name, show := range map[string]func(context.Context, *vfs.FS, string) (*mount.Mount, error){
		"frozen": mount.Frozen, "all": mount.All,
		"live": func(ctx context.Context, fsys *vfs.FS, dir string) (*mount.Mount, error) {
			return mount.Live(ctx, fsys, dir, nil)
		},
	} {
		m, err := show(t.Context(), fsys, t.TempDir())
		if errors.Is(err, mount.ErrNotAllowed) {
			t.Skip(err)
		}
		require.NoError(t, err)
		out, err := exec.Command("/bin/ls", "-l", "/proc/self/fd").CombinedOutput()
		require.NoError(t, err)
		require.NotContains(t, string(out), "fuse", name)
		require.NoError(t, m.Unmount())
	}
}

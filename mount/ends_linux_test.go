package mount_test

import (
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

// A descriptor whose mount was made elsewhere is served until that mount ends.
func TestFrozenOn(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "a", []byte("text"), 0o600))
	dir := t.TempDir()
	fd, err := mount.Attach(dir)
	skipNotAllowed(t, err)
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })

	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		failed = mount.FrozenOn(ctx, fsys, fd)
	}()
	text, err := exec.Command("cat", filepath.Join(dir, "a")).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	out, err := exec.Command("touch", filepath.Join(dir, "b")).CombinedOutput()
	require.Error(t, err, "%s", out)

	require.NoError(t, unix.Unmount(dir, 0))
	onceDone(t, done)
	require.NoError(t, failed)
}

// A descriptor whose mount has gone is an error, and so is one that has none.
func TestFrozenOnRefused(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	dir := t.TempDir()
	fd, err := mount.Attach(dir)
	skipNotAllowed(t, err)
	require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH))
	require.Error(t, mount.FrozenOn(ctx, fsys, fd))

	fd, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	require.Error(t, mount.FrozenOn(ctx, fsys, fd))
	_, err = mount.Attach(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, syscall.ENOENT)
}

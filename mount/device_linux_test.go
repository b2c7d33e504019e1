package mount_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/mount"
)

// A device that one process has mounted is served by another, which has the store. Files have the owner that is asked for.
func TestDevice(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/f")
	past := vfstest.Snapshot(t, fsys, "s")
	require.NoError(t, fsys.WriteFile(ctx, "d/f", []byte("later"), 0o644))
	dir := t.TempDir()
	device, err := mount.OpenDevice(dir)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	done, err := mount.ServeDevice(ctx, past.FS, device, &mount.Owner{Uid: 7, Gid: 8})
	require.NoError(t, err)

	// The kernel asks once whether files can be polled. Package os would have it ask in a call during which the runtime waits,
	// and this process could not answer.
	fd, err := unix.Open(filepath.Join(dir, "d/f"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	require.NoError(t, err)
	require.NoError(t, unix.Close(fd))

	text, err := os.ReadFile(filepath.Join(dir, "d/f"))
	require.NoError(t, err)
	require.Equal(t, "d/f", string(text))
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1)
	for _, name := range []string{"", "d", "d/f"} {
		var st syscall.Stat_t
		require.NoError(t, syscall.Stat(filepath.Join(dir, name), &st))
		require.Equal(t, [2]uint32{7, 8}, [2]uint32{st.Uid, st.Gid}, name)
	}
	require.ErrorIs(t, os.Mkdir(filepath.Join(dir, "new"), 0o700), syscall.EROFS)
	require.NoError(t, unix.Unmount(dir, 0))
	<-done
}

// Only a past moment can be served, since the kernel never asks twice.
func TestDeviceOfHead(t *testing.T) {
	device, err := os.Open(os.DevNull)
	require.NoError(t, err)
	_, err = mount.ServeDevice(t.Context(), vfstest.New(t), device, nil)
	require.ErrorIs(t, err, syscall.EINVAL)
}

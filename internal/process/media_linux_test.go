package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/vfs"
)

// childMedia makes a child one with mounts of its own, which mounts the directory of the store read-only and reads it.
const childMedia = "VFS_PROCESS_MEDIA"

func mediaChild(path, _ string) error {
	dir := filepath.Dir(path)
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if err := syscall.Mount("none", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("remount read-only: %w", err)
	}
	ctx := context.Background()
	if _, err := vfs.Open(ctx, path, nil); !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("opened to write: %w", err)
	}
	fsys, err := vfs.Open(ctx, path, &vfs.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	for range 2 {
		data, err := fsys.ReadFile(ctx, "d/f")
		if err != nil {
			return err
		}
		if string(data) != "content" {
			return fmt.Errorf("read %q", data)
		}
	}
	fmt.Println("read")
	return fsys.Close()
}

// A store on a file system that is mounted read-only can be read, and opening it to write fails with EROFS.
func TestReadOnlyMount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	fsys, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(t.Context(), "d/f", []byte("content"), 0o644, vfs.Parents()))
	require.NoError(t, fsys.Close())

	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path, childMedia+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC) {
		t.Skip("a namespace of mounts needs root, or a kernel that lets users make namespaces")
	}
	require.NoError(t, err, "%s", out)
	require.Equal(t, "read\n", string(out))
}

package mount

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"vfsdb/tree"
	"vfsdb/vfs"
)

// Attach mounts a file system that nobody serves yet on a directory, read-only, and returns the descriptor that
// [FrozenOn] serves. Until then a process that touches the directory waits. It is for a process in namespaces of its own,
// which may mount there: the process that serves may be another one, to which the descriptor is passed. If it is closed
// everywhere, the mount stays and is ENOTCONN.
//
// The descriptor is closed on exec. A host that does not let this process mount is [ErrNotAllowed].
func Attach(dir string) (fd int, err error) {
	fd, err = attach(dir)
	if err != nil {
		return -1, fmt.Errorf("mount %s: %w", dir, err)
	}
	return fd, nil
}

func attach(dir string) (fd int, err error) {
	fd, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	options := strings.Join([]string{
		fmt.Sprintf("fd=%d", fd),
		fmt.Sprintf("rootmode=%o", syscall.S_IFDIR),
		fmt.Sprintf("user_id=%d", os.Geteuid()),
		fmt.Sprintf("group_id=%d", os.Getegid()),
		fmt.Sprintf("max_read=%d", maxRequest),
		"allow_other",
		"default_permissions",
	}, ",")
	const flags = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOATIME

	err = unix.Mount(fsName, dir, "fuse."+fsName, flags, options)
	switch err {
	case nil:
		return fd, nil
	case unix.EPERM, unix.EACCES:
		err = fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	_ = unix.Close(fd)
	return -1, err
}

// FrozenOn serves a tree as it is now on a descriptor of /dev/fuse, whose mount Attach has made, perhaps in another
// process and other namespaces. It returns when that mount has ended: the last namespace that had it is gone, or it was
// unmounted. FrozenOn closes the descriptor, in any case. ctx bounds the beginning only; the store must stay open.
//
// This process must not use the mount itself.
func FrozenOn(ctx context.Context, fsys *vfs.FS, fd int) error {
	if err := frozenOn(ctx, fsys, fd); err != nil {
		return fmt.Errorf("serve a mount: %w", err)
	}
	return nil
}

func frozenOn(ctx context.Context, fsys *vfs.FS, fd int) error {
	held, release, err := (*tree.Tree)(fsys).Hold(ctx)
	if err != nil {
		_ = unix.Close(fd)
		return err
	}
	defer release()
	if err := unix.SetNonblock(fd, false); err != nil {
		_ = unix.Close(fd)
		return err
	}

	// The server takes a descriptor that has its mount by this name.
	shown := newFrozen(context.WithoutCancel(ctx), held)
	server, err := fuse.NewServer(shown, fmt.Sprintf("/dev/fd/%d", fd), frozenOptions())
	if err != nil {
		return err // the server has closed it
	}
	server.Serve()
	shown.pushes.stop()
	return nil
}

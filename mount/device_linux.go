package mount

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"vfsdb/tree"
	"vfsdb/vfs"
)

// OpenDevice opens a new device of FUSE and mounts it on a directory, read-only. The mount stands in the namespaces of the
// calling process, which needs the right to mount there. It can be used as soon as a process that has the device calls
// [ServeDevice]; until then, a program that looks at the directory waits.
func OpenDevice(dir string) (*os.File, error) {
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	data := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d,max_read=%d,allow_other,default_permissions",
		device.Fd(), syscall.S_IFDIR, os.Geteuid(), os.Getegid(), maxRequest)
	err = unix.Mount(fsName, dir, "fuse."+fsName, syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOATIME, data)
	if err != nil {
		_ = device.Close()
		return nil, &os.PathError{Op: "mount", Path: dir, Err: err}
	}
	return device, nil
}

// ServeDevice shows a past moment in the mount of a device that [OpenDevice] has opened, here or in another process, which
// has sent it. Something must keep the moment, and the store stay open, until done is closed: the mount has ended then. All
// files seem to belong to as, if it is not nil. The head of a branch is EINVAL. The device is closed.
func ServeDevice(ctx context.Context, fsys *vfs.FS, device *os.File, as *Owner) (done <-chan struct{}, err error) {
	defer device.Close()
	if !fsys.Frozen() {
		return nil, fmt.Errorf("serve %s: %w: not a past moment", fsys.Name(), syscall.EINVAL)
	}
	fd, err := unix.FcntlInt(device.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}

	served := newFrozen(context.WithoutCancel(ctx), (*tree.Tree)(fsys))
	served.owner = as
	server, err := fuse.NewServer(served, fmt.Sprintf("/dev/fd/%d", fd), frozenOptions())
	if err != nil {
		return nil, fmt.Errorf("serve %s: %w", fsys.Name(), err)
	}
	ended := make(chan struct{})
	go func() {
		server.Serve()
		served.pushes.stop()
		close(ended)
	}()
	return ended, nil
}

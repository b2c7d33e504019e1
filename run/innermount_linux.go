package run

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"vfsdb/mount"
)

// mount makes the view of the command: the lower layer, overlayfs above it, and the processes of the namespace in /proc. It
// sends the device of the lower layer out before it needs an answer from it, and at last the root of the tree.
func (in *innerInput) mount(outer *os.File) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return unable("mounts cannot be made private", "", err)
	}
	if in.Base != "" {
		if err := unix.Mount(in.Base, in.lowerPath(), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return &os.PathError{Op: "run over", Path: in.Base, Err: err}
		}
	} else if err := in.mountMoment(outer); err != nil {
		return err
	}

	if err := in.mountOverlay(); err != nil {
		return err
	}
	if err := in.sendTree(outer); err != nil {
		return err
	}
	// A host that hides parts of /proc allows no new one. Then the command sees the processes of the host.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if in.NetworkNone {
		return loopbackUp()
	}
	return nil
}

// mountMoment mounts the frozen moment, which the process outside serves.
func (in *innerInput) mountMoment(outer *os.File) error {
	device, err := mount.OpenDevice(in.lowerPath())
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return unable("/dev/fuse", "load the kernel's module fuse, or give the container the device", err)
	case errors.Is(err, syscall.EACCES):
		return unable("/dev/fuse", "chmod 666 /dev/fuse, as root", err)
	case err != nil:
		return unable("a mount through FUSE", "give the container the device /dev/fuse and the right to mount", err)
	}
	defer device.Close()
	return sendFile(outer, device)
}

// endMoment ends the mount of the moment at once, although overlayfs still uses it: no process is left that could ask. A process
// that is confined may not do that.
func (in *innerInput) endMoment() error {
	if in.Base != "" {
		return nil
	}
	moment, err := os.OpenFile(in.lowerPath(), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer moment.Close()

	// Since it is busy, the kernel ends its connection, but does not take it out of the namespace: that would be a wait.
	if err := unix.Unmount(in.lowerPath(), unix.MNT_FORCE); err != unix.EBUSY {
		return err
	}
	return nil
}

// sendTree sends the root of the tree to the process outside, which so decides when the kernel frees what it knows of the tree.
func (in *innerInput) sendTree(outer *os.File) error {
	tree, err := os.OpenFile(in.Tree, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer tree.Close()
	return sendFile(outer, tree)
}

// mountOverlay mounts overlayfs. Its paths are relative, so they may have any characters. The kernel need not sync the upper
// layer, which does not survive a crash of the host anyway.
func (in *innerInput) mountOverlay() error {
	data := "lowerdir=" + lowerName + ",upperdir=" + upperName + ",workdir=" + workName + ",volatile"
	if in.User {
		data += ",userxattr"
	} else {
		data += ",redirect_dir=on,metacopy=off,index=off"
	}
	if err := os.Chdir(in.Dir); err != nil {
		return err
	}
	switch err := unix.Mount("overlay", in.Tree, "overlay", unix.MS_NOATIME, data); err {
	case nil:
		return os.Chdir("/")
	case unix.ENODEV:
		return unable("the kernel has no overlayfs", "modprobe overlay, as root", err)
	case unix.EPERM:
		return unable("overlayfs", "a kernel from 5.11 on allows it to users; a container needs the right to mount", err)
	default:
		return unable("overlayfs", "a kernel from 5.10 on has what is needed, see its log", err)
	}
}

// loopbackUp starts the only network that a command without one has.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

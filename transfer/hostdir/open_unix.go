//go:build unix

package hostdir

import (
	"os"

	"golang.org/x/sys/unix"
)

// OpenFile opens a file of the directory to be read. It neither follows a symlink nor waits for the other end of a fifo.
func (d *Dir) OpenFile(base string) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(d.Self.Fd()), base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), base), nil
		case unix.EINTR:
		default:
			return nil, &os.PathError{Op: "openat", Path: base, Err: err}
		}
	}
}

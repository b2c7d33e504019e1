//go:build unix

package hostdir

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Lock takes a file for this process until it is closed. If another open file has it, that is EBUSY.
func Lock(f *os.File) error {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return syscall.EBUSY
		default:
			return os.NewSyscallError("flock", err)
		}
	}
}

package hostdir

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Mknod makes a fifo, socket or device in the directory. perm are the 12 permission bits of Unix, and dev is a number of
// Linux.
func (d *Dir) Mknod(base string, kind fs.FileMode, perm uint32, dev uint64) error {
	var mode uint32
	switch kind.Type() {
	case fs.ModeNamedPipe:
		mode = syscall.S_IFIFO
	case fs.ModeSocket:
		mode = syscall.S_IFSOCK
	case fs.ModeDevice | fs.ModeCharDevice:
		mode = syscall.S_IFCHR
	case fs.ModeDevice:
		mode = syscall.S_IFBLK
	}
	in := int(d.Self.Fd())
	if err := unix.Mknodat(in, base, mode|0o600, int(dev)); err != nil {
		return os.NewSyscallError("mknodat", err)
	}
	return os.NewSyscallError("fchmodat", unix.Fchmodat(in, base, perm, 0))
}

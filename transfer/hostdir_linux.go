package transfer

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"vfsdb/node"
	"vfsdb/vfs"
)

// mknod makes a fifo, socket or device in the directory.
func (d *hostDir) mknod(base string, info *vfs.Info) error {
	var mode uint32
	switch info.Mode().Type() {
	case fs.ModeNamedPipe:
		mode = syscall.S_IFIFO
	case fs.ModeSocket:
		mode = syscall.S_IFSOCK
	case fs.ModeDevice | fs.ModeCharDevice:
		mode = syscall.S_IFCHR
	case fs.ModeDevice:
		mode = syscall.S_IFBLK
	}
	dir := int(d.self.Fd())
	if err := unix.Mknodat(dir, base, mode|0o600, int(info.Rdev())); err != nil {
		return os.NewSyscallError("mknodat", err)
	}
	return os.NewSyscallError("fchmodat", unix.Fchmodat(dir, base, node.UnixPerm(info.Mode()), 0))
}

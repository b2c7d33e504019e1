package hostdir

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sysListxattrat is the number of listxattrat(2), which Linux has since 6.13, on every architecture that Go knows but MIPS.
const sysListxattrat = 465

// noListxattrat notes that the kernel refuses the call.
var noListxattrat atomic.Bool

func init() {
	switch runtime.GOARCH {
	case "mips", "mipsle", "mips64", "mips64le":
		noListxattrat.Store(true) // where the numbers begin at 4000 or 5000
	}
}

// listXattr is llistxattr(2) of a file in the directory. Where the kernel can begin at a descriptor, no path leads through
// /proc: an import asks this of every file.
func (d *Dir) listXattr(base string, buf []byte) (int, error) {
	if noListxattrat.Load() {
		return unix.Llistxattr(d.PathOf(base), buf)
	}
	name, err := unix.BytePtrFromString(base)
	if err != nil {
		return 0, err
	}

	n, _, errno := unix.Syscall6(sysListxattrat, d.Self.Fd(), uintptr(unsafe.Pointer(name)), unix.AT_SYMLINK_NOFOLLOW,
		uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)), 0)
	switch errno {
	case 0:
		return int(n), nil
	case unix.ENOSYS, unix.EPERM: // EPERM is what a filter of system calls may say
		noListxattrat.Store(true)
		return unix.Llistxattr(d.PathOf(base), buf)
	}
	return 0, errno
}

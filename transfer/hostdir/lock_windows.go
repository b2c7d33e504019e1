package hostdir

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Lock takes a file for this process until it is closed. If another open file has it, that is EBUSY.
func Lock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if err == windows.ERROR_LOCK_VIOLATION {
		return syscall.EBUSY
	}
	return os.NewSyscallError("LockFileEx", err)
}

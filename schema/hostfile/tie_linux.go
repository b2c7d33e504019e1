package hostfile

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A log is tied to its file by an advisory lock of one byte of the log, for as long as a process has both open. The number
// of the file's inode selects the byte. So the next process to open the file sees when the log beside it is in use for
// another file, as after a rename of one open file over another: then both are in use, which alone would not show it.
//
// The bytes are far beyond the end of the log, and not those of the turns.
const (
	firstTie = 1 << 61
	tieCount = 1 << 60
)

// Tie ties a log to a file until it is closed. It returns nil if the host has no such locks.
func Tie(log string, file ID) io.Closer {
	f, err := os.Open(log)
	if err != nil {
		return nil
	}
	lock := syscall.Flock_t{Type: syscall.F_RDLCK, Start: tieOf(file), Len: 1}
	if syscall.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock) != nil {
		_ = f.Close()
		return nil
	}
	return f
}

// TiedElsewhere reports whether a log is tied to another file.
func TiedElsewhere(log string, file ID) bool {
	f, err := os.Open(log)
	if err != nil {
		return false
	}
	defer f.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: firstTie, Len: tieCount}
	err = syscall.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock)
	return err == nil && lock.Type != syscall.F_UNLCK && lock.Start != tieOf(file)
}

func tieOf(file ID) int64 { return firstTie + int64(file.ino%tieCount) }

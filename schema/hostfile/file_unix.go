//go:build unix

package hostfile

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// An ID identifies a file of the host, whatever its path.
type ID struct{ dev, ino uint64 }

// MaxPath is the longest path that SQLite opens, in bytes.
const MaxPath = 512

// The bytes that SQLite locks, which are part of its file format: in the database by every process that has it open in
// WAL mode, and in the index of the log by every process that has that open.
const (
	pendingByte = 0x40000000
	sharedFirst = pendingByte + 2
	sharedSize  = 510
	indexByte   = 128
)

// Held reports whether another process has the open file of a descriptor locked, as it does while it has the database open.
func Held(fd int) bool {
	_, held := Holder(fd)
	return held
}

// Holder returns a process that Held is about.
func Holder(fd int) (pid int, held bool) { return locker(fd, sharedFirst, sharedSize) }

// IndexHeld reports whether another process has the index of a log open. This process must not have it open: its locks would
// go with the descriptor that is closed here.
func IndexHeld(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, held := locker(int(f.Fd()), indexByte, 1)
	return held
}

// locker returns the process that has bytes of a file locked.
func locker(fd int, start, n int64) (pid int, held bool) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: start, Len: n}
	err := again(func() error { return syscall.FcntlFlock(uintptr(fd), syscall.F_GETLK, &lock) })
	return int(lock.Pid), err == nil && lock.Type != syscall.F_UNLCK
}

// UsesLog reports whether the open file of a descriptor is in WAL mode, by its header.
func UsesLog(fd int) bool {
	const version, wal = 19, 2
	head := make([]byte, version+1)
	n, err := syscall.Pread(fd, head, 0)
	return err == nil && n == len(head) && head[version] == wal
}

// Writable fails if this process may not write to a directory: EACCES for its permissions, EROFS for its mount.
func Writable(dir string) error {
	return again(func() error { return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK, unix.AT_EACCESS) })
}

func again(fn func() error) error {
	for {
		if err := fn(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

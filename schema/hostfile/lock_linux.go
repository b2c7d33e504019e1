package hostfile

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// The bytes of the log that are locked.
const (
	lineLock int64 = 1 << 62
	turnLock       = lineLock + 1
)

// locks are advisory locks of single bytes, which belong to the open file, not to the process: two DBs of one process
// wait for each other too, and closing one takes nothing from the other.
type locks struct{ file *os.File }

// openLocks fails if the kernel, or the file system, has no such locks.
func openLocks(name string) (locks, error) {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return locks{}, err
	}
	l := locks{file}
	if _, err := l.fcntl(unix.F_OFD_GETLK, syscall.F_WRLCK, lineLock); err != nil {
		l.close()
		return locks{}, err
	}
	return l, nil
}

// try takes a lock if it is free.
func (l locks) try(at int64) bool {
	_, err := l.fcntl(unix.F_OFD_SETLK, syscall.F_WRLCK, at)
	return err == nil
}

// wait takes a lock after all earlier requests for it have been served. It cannot be interrupted.
func (l locks) wait(at int64) {
	_ = again(func() error {
		_, err := l.fcntl(unix.F_OFD_SETLKW, syscall.F_WRLCK, at)
		return err
	})
}

func (l locks) unlock(at int64) { _, _ = l.fcntl(unix.F_OFD_SETLK, syscall.F_UNLCK, at) }

// taken reports whether another one has a lock.
func (l locks) taken(at int64) bool {
	found, err := l.fcntl(unix.F_OFD_GETLK, syscall.F_WRLCK, at)
	return err == nil && found != syscall.F_UNLCK
}

func (l locks) fcntl(cmd int, kind int16, at int64) (found int16, err error) {
	lock := syscall.Flock_t{Type: kind, Start: at, Len: 1} // Pid must be 0, Whence is the start of the file
	err = syscall.FcntlFlock(l.file.Fd(), cmd, &lock)
	return lock.Type, err
}

func (l locks) close() { _ = l.file.Close() }

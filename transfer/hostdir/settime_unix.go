//go:build unix

package hostdir

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// SetTime sets the modification time of a file in the directory, to the nanosecond. A symlink is not followed.
func (d *Dir) SetTime(base string, t time.Time) error {
	mtime, err := unix.TimeToTimespec(t)
	if err != nil {
		return err
	}
	times := []unix.Timespec{mtime, mtime}
	for {
		err := unix.UtimesNanoAt(int(d.Self.Fd()), base, times, unix.AT_SYMLINK_NOFOLLOW)
		if err != unix.EINTR {
			return os.NewSyscallError("utimensat", err)
		}
	}
}

//go:build unix

package transfer

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A fileID identifies a file of the host.
type fileID struct{ dev, ino uint64 }

// identity returns the fileID, and whether the file has other names.
func identity(info fs.FileInfo) (fileID, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, st.Nlink > 1 && !info.IsDir() //nolint:unconvert // types differ between systems
}

// ownerOf returns the owner, and the device number of a device.
func ownerOf(info fs.FileInfo) (uid, gid uint32, rdev uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	if info.Mode()&fs.ModeDevice != 0 {
		rdev = mkdev(int64(unix.Major(uint64(st.Rdev))), int64(unix.Minor(uint64(st.Rdev))))
	}
	return st.Uid, st.Gid, rdev
}

// openHost opens a file to be read. It neither follows a symlink nor waits for the other end of a fifo.
func openHost(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

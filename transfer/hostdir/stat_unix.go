//go:build unix

package hostdir

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Identity returns the ID, and whether the file has other names.
func Identity(info fs.FileInfo) (ID, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ID{}, false
	}
	return ID{Dev: uint64(st.Dev), Ino: uint64(st.Ino)}, st.Nlink > 1 && !info.IsDir() //nolint:unconvert // types differ between systems
}

// Owner returns the user and the group.
func Owner(info fs.FileInfo) (uid, gid uint32) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return st.Uid, st.Gid
}

// Device returns the two numbers of a device, and zeros of any other file.
func Device(info fs.FileInfo) (major, minor int64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&fs.ModeDevice == 0 {
		return 0, 0
	}
	return int64(unix.Major(uint64(st.Rdev))), int64(unix.Minor(uint64(st.Rdev)))
}

// links returns how many names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

//go:build unix && !linux

package hostfile

import "syscall"

// Identify returns the file that a path leads to, and how many names it has.
func Identify(path string) (id ID, names uint64, err error) {
	var st syscall.Stat_t
	err = again(func() error { return syscall.Stat(path, &st) })
	return ID{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink), err
}

// IsOpen reports whether a descriptor is of the file.
func (id ID) IsOpen(fd int) bool {
	var st syscall.Stat_t
	err := again(func() error { return syscall.Fstat(fd, &st) })
	return err == nil && id == ID{uint64(st.Dev), uint64(st.Ino)}
}

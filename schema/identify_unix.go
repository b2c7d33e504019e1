//go:build unix && !linux

package schema

import "syscall"

// identify returns the file that a path leads to, and how many names it has.
func identify(path string) (id fileID, names uint64, err error) {
	var st syscall.Stat_t
	err = again(func() error { return syscall.Stat(path, &st) })
	return fileID{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink), err
}

// isOpen reports whether a descriptor is of the file.
func (id fileID) isOpen(fd int) bool {
	var st syscall.Stat_t
	err := again(func() error { return syscall.Fstat(fd, &st) })
	return err == nil && id == fileID{uint64(st.Dev), uint64(st.Ino)}
}

package schema

import "golang.org/x/sys/unix"

// identify returns the file that a path leads to, and how many names it has. It does not ask for times: since Linux
// 6.13, a file whose times somebody has looked at notes each later write with a time of its own, so that its inode has
// to be written at every sync. A commit, which looks at three files, took a quarter longer.
func identify(path string) (id fileID, names uint64, err error) {
	return statx(unix.AT_FDCWD, path, 0)
}

// isOpen reports whether a descriptor is of the file.
func (id fileID) isOpen(fd int) bool {
	found, _, err := statx(fd, "", unix.AT_EMPTY_PATH)
	return err == nil && id == found
}

func statx(dir int, path string, flags int) (id fileID, names uint64, err error) {
	var st unix.Statx_t
	err = again(func() error { return unix.Statx(dir, path, flags, unix.STATX_INO|unix.STATX_NLINK, &st) })
	return fileID{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}, uint64(st.Nlink), err
}

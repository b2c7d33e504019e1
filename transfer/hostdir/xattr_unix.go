//go:build linux || darwin

package hostdir

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Xattrs returns the names of the extended attributes of a file, or of a symlink itself, without the labels that the system
// gives to each file by itself. Base "." is the directory.
func (d *Dir) Xattrs(base string) ([]string, error) {
	list, err := whole(func(buf []byte) (int, error) { return d.listXattr(base, buf) })
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range strings.SplitSeq(list, "\x00") {
		if name != "" && name != "security.selinux" && name != "com.apple.provenance" {
			names = append(names, name)
		}
	}
	return names, nil
}

// Xattr returns the value of an extended attribute of a file, or of a symlink itself.
func (d *Dir) Xattr(base, name string) (string, error) {
	path := d.PathOf(base)
	return whole(func(buf []byte) (int, error) { return unix.Lgetxattr(path, name, buf) })
}

// whole returns what a call writes, after it has asked how much that is.
func whole(call func([]byte) (int, error)) (string, error) {
	for try := 0; ; try++ {
		size, err := call(nil)
		if err != nil || size == 0 {
			return "", err
		}
		buf := make([]byte, size)
		n, err := call(buf)
		if err == unix.ERANGE && try < 3 {
			continue // it has grown meanwhile
		}
		return string(buf[:max(n, 0)]), err
	}
}

// KeepsXattrs reports whether the directory's file system has a place for an attribute of this name, whether there is one.
func (d *Dir) KeepsXattrs(name string) bool {
	_, err := unix.Lgetxattr(d.PathOf("."), name, nil)
	return err != unix.ENOTSUP && err != unix.EOPNOTSUPP
}

// LoseXattrs removes the extended attributes of the directory that lost reports.
func (d *Dir) LoseXattrs(lost func(name string) bool) error {
	names, _ := d.Xattrs(".") // there may be no place for any
	for _, name := range names {
		if lost(name) {
			if err := unix.Lremovexattr(d.PathOf("."), name); err != nil {
				return err
			}
		}
	}
	return nil
}

// SetXattr sets an extended attribute of an open file.
func SetXattr(f *os.File, name, value string) error {
	return unix.Fsetxattr(int(f.Fd()), name, []byte(value), 0)
}

package hostdir

import "golang.org/x/sys/unix"

// listXattr is listxattr(2) of a file in the directory, or of a symlink itself.
func (d *Dir) listXattr(base string, buf []byte) (int, error) {
	return unix.Llistxattr(d.PathOf(base), buf)
}

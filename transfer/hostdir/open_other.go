//go:build !unix

package hostdir

import (
	"io/fs"
	"os"
	"syscall"
)

// OpenFile opens a file of the directory to be read. It does not follow a symlink.
func (d *Dir) OpenFile(base string) (*os.File, error) {
	seen, err := d.Root.Lstat(base)
	switch {
	case err != nil:
		return nil, err
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, &os.PathError{Op: "open", Path: base, Err: syscall.ELOOP}
	}
	return d.Root.Open(base) // follows a symlink that came meanwhile, but not out of the directory
}

//go:build !linux

package hostdir

import (
	"io/fs"
	"syscall"
)

// Mknod would make a fifo, socket or device in the directory. This system has none.
func (d *Dir) Mknod(string, fs.FileMode, uint32, uint64) error { return syscall.ENOTSUP }

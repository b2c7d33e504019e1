//go:build !linux

package transfer

import (
	"syscall"

	"vfsdb/vfs"
)

// mknod would make a fifo, socket or device in the directory. This system has none.
func (d *hostDir) mknod(string, *vfs.Info) error { return syscall.ENOTSUP }

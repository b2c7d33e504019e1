//go:build !linux

package transfer

import (
	"syscall"

	"vfsdb/vfs"
)

// mknod makes a fifo, socket or device in the directory: not on this system.
func (d *hostDir) mknod(string, *vfs.Info) error { return syscall.ENOTSUP }

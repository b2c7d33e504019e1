package webdav

import (
	"errors"
	"syscall"

	"vfsdb/vfs"
	"vfsdb/xattr"
)

// attr is the extended attribute that has the dead properties of a file. Copies, moves and snapshots keep it. It has room
// for [xattr.MaxTotal] bytes, together with the other attributes of the file.
const attr = "user.webdav"

// loadProps returns the stored properties of a file; "" if there are none.
func loadProps(tx *vfs.Tx, name string) (string, error) {
	value, err := xattr.GetIn(tx, name, xattr.Follow, attr)
	if errors.Is(err, syscall.ENODATA) {
		return "", nil
	}
	return string(value), err
}

// storeProps stores the properties of a file. Without room for them it is ENOSPC.
func storeProps(tx *vfs.Tx, name, value string) error {
	if value == "" {
		err := xattr.RemoveIn(tx, name, xattr.Follow, attr)
		if errors.Is(err, syscall.ENODATA) {
			return nil
		}
		return err
	}
	err := xattr.SetIn(tx, name, xattr.Follow, attr, []byte(value), 0)
	if errors.Is(err, syscall.E2BIG) {
		return syscall.ENOSPC
	}
	return err
}

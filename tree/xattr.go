package tree

import (
	"syscall"

	"vfsdb/journal"
	"vfsdb/node"
)

// Flags of [Tx.SetXattr], with the numbers of setxattr(2).
const (
	XattrCreate  = 1 // an attribute that exists is EEXIST
	XattrReplace = 2 // one that does not exist is ENODATA
)

// SetXattr sets an extended attribute of an inode, and so its ctime. See [node.CheckXattr] for the names; the value may have
// up to [node.MaxXattrValue] bytes, else it is E2BIG, and all attributes together [node.MaxXattrs] as they are stored, else it
// is ENOSPC. Regular files and directories can have attributes; anything else is EPERM.
func (tx *Tx) SetXattr(p Place, name string, value []byte, flags int) error {
	if flags&^(XattrCreate|XattrReplace) != 0 {
		return syscall.EINVAL
	}
	return tx.changeXattrs(p, name, func(x node.Xattrs) (node.Xattrs, error) {
		_, have := x.Get(name)
		switch {
		case have && flags&XattrCreate != 0:
			return "", syscall.EEXIST
		case !have && flags&XattrReplace != 0:
			return "", syscall.ENODATA
		}
		return x.With(name, string(value))
	})
}

// RemoveXattr removes an extended attribute of an inode. One that does not exist is ENODATA; see [Tx.SetXattr].
func (tx *Tx) RemoveXattr(p Place, name string) error {
	return tx.changeXattrs(p, name, func(x node.Xattrs) (node.Xattrs, error) {
		if _, have := x.Get(name); !have {
			return "", syscall.ENODATA
		}
		return x.Without(name), nil
	})
}

// changeXattrs changes the attributes of an inode with a function, and records the name of the one that it changes.
func (tx *Tx) changeXattrs(p Place, name string, set func(node.Xattrs) (node.Xattrs, error)) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	if err := node.CheckXattr(name); err != nil {
		return err
	}
	n, err := tx.shown(p)
	if err != nil {
		return err
	}
	if err := n.CheckXattrs(); err != nil {
		return err
	}
	attrs, err := set(n.Xattrs)
	if err != nil {
		return err
	}
	path, err := tx.eventPath(p)
	if err != nil {
		return err
	}

	n.Xattrs = attrs
	tx.change(n)
	c := journal.Change{Op: journal.OpXattr, Arg: name, Ino: n.Ino}
	if err := tx.recordAt(path, change{Change: c}); err != nil || !tx.mem.Own.Full() {
		return err
	}
	return tx.Flush()
}

// Xattr returns an extended attribute of an inode. One that does not exist is ENODATA.
func (tx *Tx) Xattr(p Place, name string) ([]byte, error) {
	if err := node.CheckXattr(name); err != nil {
		return nil, err
	}
	n, err := tx.shown(p)
	if err != nil {
		return nil, err
	}
	value, ok := n.Xattrs.Get(name)
	if !ok {
		return nil, syscall.ENODATA
	}
	return []byte(value), nil
}

// Xattrs returns the extended attributes of an inode.
func (tx *Tx) Xattrs(p Place) (node.Xattrs, error) {
	n, err := tx.shown(p)
	if err != nil {
		return "", err
	}
	return n.Xattrs, nil
}

package mount

import (
	"strings"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/tree"
)

// GetXAttr reads an extended attribute. The kernel asks for security.capability before a first write to each file: that there
// is none needs no look.
func (l *live) GetXAttr(_ <-chan struct{}, h *fuse.InHeader, name string, dest []byte) (uint32, fuse.Status) {
	if strings.HasPrefix(name, "security.") {
		return 0, fuse.ENODATA
	}
	var value []byte
	err := l.look(func(tx *tree.Tx) (err error) {
		value, err = tx.Xattr(tree.Place{Ino: l.ino(h.NodeId)}, name)
		return err
	})
	if err != nil {
		return 0, status(err)
	}
	return give(dest, value)
}

// give copies a value that the kernel asks for. The kernel may have no room for it: then it asks again.
func give(dest, value []byte) (uint32, fuse.Status) {
	if len(dest) < len(value) {
		return uint32(len(value)), fuse.ERANGE
	}
	return uint32(copy(dest, value)), fuse.OK
}

func (l *live) ListXAttr(_ <-chan struct{}, h *fuse.InHeader, dest []byte) (uint32, fuse.Status) {
	var list []byte
	err := l.look(func(tx *tree.Tx) error {
		attrs, err := tx.Xattrs(tree.Place{Ino: l.ino(h.NodeId)})
		list = list[:0]
		for name := range attrs.All() {
			list = append(append(list, name...), 0)
		}
		return err
	})
	if err != nil {
		return 0, status(err)
	}
	return give(dest, list)
}

func (l *live) SetXAttr(_ <-chan struct{}, in *fuse.SetXAttrIn, name string, value []byte) fuse.Status {
	return l.changeXattr(&in.InHeader, func(tx *tree.Tx, p tree.Place) error {
		return tx.SetXattr(p, name, value, int(in.Flags))
	})
}

func (l *live) RemoveXAttr(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return l.changeXattr(h, func(tx *tree.Tx, p tree.Place) error { return tx.RemoveXattr(p, name) })
}

func (l *live) changeXattr(h *fuse.InHeader, change func(*tree.Tx, tree.Place) error) fuse.Status {
	return status(l.batch.do(func(tx *tree.Tx) error {
		p, err := l.placeOfInode(tx, l.ino(h.NodeId))
		if err != nil {
			return err
		}
		return change(tx, p)
	}))
}

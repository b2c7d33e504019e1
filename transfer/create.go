package transfer

import (
	"io/fs"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// create makes anything but a directory, and counts it.
func (n *namer) create(e *entry, p tree.Place) error {
	if e.mode.IsRegular() {
		if err := n.regular(e, p); err != nil {
			return err
		}
	} else if err := n.other(e, p); err != nil {
		return err
	}

	if e.mode.Type() == fs.ModeSymlink {
		n.done.Links++
		return nil
	}
	n.done.Files++
	n.done.Bytes += e.size()
	if e.twin != nil {
		n.done.Unread++
	}
	return nil
}

// regular gives a regular file its content and attributes. If the store has the file under the same names and with the
// same content, only attributes are set, so that its links stay together.
func (n *namer) regular(e *entry, p tree.Place) error {
	if e.twin != nil {
		if e.twin.sameAttr {
			return nil
		}
		return n.setAttr(p, e.attr)
	}
	same, err := n.sameLinks(e)
	switch {
	case err != nil:
		return err
	case same:
		return n.setAttr(p, e.attr)
	}
	return n.put(e, p)
}

// sameLinks reports whether the store has a file with several names under the same names and with the same content.
func (n *namer) sameLinks(e *entry) (bool, error) {
	if len(e.names) == 0 {
		return false, nil
	}
	tx := (*vfs.Tx)(n.tx)
	if whole, err := e.whole(tx, n.to); !whole || err != nil {
		return false, err
	}
	sum, err := tx.Sum(n.to.path(e.path))
	return err == nil && sum == e.data.Sum(), err
}

// put gives a name a content that is stored, with all attributes. A regular file keeps its inode, if it has no other names
// than the entry. Any other file loses the name to a new one.
func (n *namer) put(e *entry, p tree.Place) error {
	there, err := n.tx.Lookup(p.Dir, p.Base)
	switch {
	case err != nil:
		return err
	case there.Ino != 0 && there.Kind == node.KindDir:
		return errIsDir
	case !e.data.In(n.tx.Tree().DB()):
		return syscall.EXDEV
	}
	content, err := e.data.Commit(n.tx.DB())
	if err != nil {
		return err
	}

	if there.Ino != 0 {
		old, err := n.tx.NodeOf(p.Dir, node.Entry{Name: p.Base, Ino: there.Ino, Kind: there.Kind})
		if err != nil {
			return err
		}
		keep := old.Kind() == node.KindFile && old.Nlink == 1
		if old.Kind() == node.KindFile && old.Nlink > 1 {
			if keep, err = e.whole((*vfs.Tx)(n.tx), n.to); err != nil {
				return err
			}
		}
		if keep {
			return n.putOver(e, p, old, content)
		}
	}
	made := n.tx.NewNode(node.ModeFile)
	made.Content = content
	e.putNode(made)
	return n.tx.Replace(p, made, e.data.Sum())
}

// putOver gives a file that exists a content and attributes. If it has them already, nothing changes.
func (n *namer) putOver(e *entry, p tree.Place, there *node.Node, content chunk.Content) error {
	if err := n.tx.Fold(there); err != nil {
		return err
	}
	switch {
	case there.Content != content:
		return n.tx.SetContent(p, vfs.OpWrite, content, e.data.Sum(), e.putNode)
	case e.differs(there):
		return n.tx.SetAttr(p, vfs.OpSetattr, e.putNode)
	}
	return nil
}

// other makes a symlink, fifo, socket or device.
func (n *namer) other(e *entry, p tree.Place) error {
	made := n.tx.NewNode(uint32(node.ModeKind(e.mode))<<12 | node.UnixPerm(e.mode))
	made.Target, made.Rdev = e.target, int64(e.rdev)
	if made.Kind() == node.KindLink {
		made.Mode |= 0o777
	}
	done, err := n.clear(p, func(there *node.Node) bool {
		return there.Kind() == made.Kind() && there.Target == made.Target && there.Rdev == made.Rdev
	})
	if err == nil && !done {
		err = n.tx.Create(p, made, chunk.Sum{})
	}
	if err != nil {
		return err
	}
	return n.setAttr(p, e.attr)
}

// link makes a place a further name of the file at a path inside the destination.
func (n *namer) link(first string, p tree.Place) error {
	from, err := n.at(n.full(first), false)
	if err != nil {
		return err
	}
	file, err := n.nodeAt(from)
	if err != nil {
		return err
	}
	done, err := n.clear(p, func(there *node.Node) bool { return there.Ino == file.Ino })
	if done || err != nil {
		return err
	}
	return n.tx.Link(from, p)
}

// clear removes the file that is in the place of a symlink, a node or a link. One that is the same already stays, and
// done is true.
func (n *namer) clear(p tree.Place, same func(*node.Node) bool) (done bool, err error) {
	there, err := n.nodeAt(p)
	switch {
	case err == syscall.ENOENT:
		return false, nil
	case err != nil:
		return false, err
	case there.IsDir():
		return false, errIsDir
	case same(there):
		return true, nil
	}
	return false, n.tx.Unlink(p)
}

// nodeAt returns the node at a place.
func (n *namer) nodeAt(p tree.Place) (*node.Node, error) {
	there := node.Dirent{Ino: p.Ino, Kind: node.KindDir} // the root
	if p.Dir != 0 {
		var err error
		if there, err = n.tx.Lookup(p.Dir, p.Base); err != nil {
			return nil, err
		}
	}
	return n.tx.NodeOf(p.Dir, node.Entry{Name: p.Base, Ino: there.Ino, Kind: there.Kind})
}

// setAttr sets all attributes of the file at a place. If it has them already, nothing changes.
func (n *namer) setAttr(p tree.Place, a attr) error {
	there, err := n.nodeAt(p)
	if err != nil || !a.differs(there) {
		return err
	}
	return n.tx.SetAttr(p, vfs.OpSetattr, a.putNode)
}

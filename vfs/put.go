package vfs

import (
	"io/fs"
	"syscall"
	"time"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/tree"
)

// An Attr is what a file has beside its name and its content.
type Attr struct {
	Mode     fs.FileMode // the 12 permission bits; its type is not looked at
	Uid, Gid uint32
	ModTime  time.Time
}

// Put makes a regular file of a content that is stored already, with all of its attributes. It replaces a file that has
// the name: a regular file without other names keeps its inode, any other is removed for a new file, and a symlink is
// not followed. A directory is EISDIR, a content of another store EXDEV. If the file is the same already, nothing
// changes.
func (tx *Tx) Put(name string, staged *chunk.Item, a Attr) error {
	return pathErr("put", name, tx.put(name, staged, a))
}

func (tx *Tx) put(name string, staged *chunk.Item, a Attr) error {
	if err := tx.writable(); err != nil {
		return err
	}
	p, err := tx.walk(name, false)
	if err != nil {
		return err
	}
	switch {
	case p.kind == node.KindDir && p.ino != 0:
		return syscall.EISDIR
	case !staged.In(tx.tree().Tree().DB()):
		return syscall.EXDEV
	}
	content, err := staged.Commit(tx.tree().DB())
	if err != nil {
		return err
	}

	if p.ino != 0 {
		n, err := tx.at(p)
		if err != nil {
			return err
		}
		if n.Kind() == node.KindFile && n.Nlink == 1 {
			return tx.putOver(p.entry(), n, content, staged.Sum(), a)
		}
	}
	n := tx.tree().NewNode(node.ModeFile)
	n.Content = content
	a.set(n)
	return tx.tree().Replace(p.entry(), n, staged.Sum())
}

// putOver gives a file that exists a content and attributes.
func (tx *Tx) putOver(p tree.Place, n *node.Node, content chunk.Content, sum Sum, a Attr) error {
	if err := tx.tree().Fold(n); err != nil {
		return err
	}
	switch {
	case n.Content != content:
		return tx.tree().SetContent(p, journal.OpWrite, content, sum, a.set)
	case a.differs(n):
		return tx.tree().SetAttr(p, journal.OpSetattr, a.set)
	}
	return nil
}

// SetAttr sets all attributes of a file at once. A symlink is not followed, and keeps its mode.
func (tx *Tx) SetAttr(name string, a Attr) error {
	return pathErr("setattr", name, tx.setAttrOf(name, a))
}

func (tx *Tx) setAttrOf(name string, a Attr) error {
	if err := tx.writable(); err != nil {
		return err
	}
	p, n, err := tx.find(name, false)
	if err != nil || !a.differs(n) {
		return err
	}
	return tx.tree().SetAttr(p.entry(), journal.OpSetattr, a.set)
}

// set sets all attributes of an inode.
func (a Attr) set(n *node.Node) {
	if n.Kind() != node.KindLink {
		n.Mode = n.Mode&^node.PermBits | node.UnixPerm(a.Mode)
	}
	n.Uid, n.Gid, n.Mtime = a.Uid, a.Gid, tree.Nanos(a.ModTime)
}

// differs reports whether set would change an inode.
func (a Attr) differs(n *node.Node) bool {
	after := *n
	a.set(&after)
	return after != *n
}

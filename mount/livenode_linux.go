package mount

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/tree"
)

// see returns an inode as the kernel is to see it: with the changes that are gathered, and with what was written to the
// file. find finds it; an inode that is nil is not there.
func (l *live) see(find func(*tree.Tx) (*node.Node, error)) (n node.Node, ok bool, err error) {
	read := func() error {
		return l.look(func(tx *tree.Tx) error {
			found, err := find(tx)
			if ok = err == nil && found != nil; ok {
				n = *found
			}
			return err
		})
	}
	if err := read(); err != nil || !ok || n.Kind() != node.KindFile {
		return n, ok, err
	}

	h, _ := l.inodes.mark(n.Ino)
	for current := h == nil; !current; {
		turn := h.Turn()
		_, wrote := l.inodes.mark(n.Ino)
		if err := read(); err != nil || !ok {
			return n, ok, err
		}
		n.Content.Size, current = h.Over(&n, turn)
		if wrote != 0 {
			n.Mtime, n.Ctime = wrote, max(n.Ctime, wrote)
		}
	}
	return n, ok, nil
}

// node is see for an inode by its number.
func (l *live) node(ino node.Ino) (node.Node, error) {
	if err := l.alive(ino); err != nil {
		return node.Node{}, err
	}
	n, ok, err := l.see(func(tx *tree.Tx) (*node.Node, error) { return tx.Node(ino) })
	if err == nil && !ok {
		err = syscall.ESTALE
	}
	return n, err
}

// Lookup finds an entry of a directory. The kernel keeps that there is none, too.
func (l *live) Lookup(_ <-chan struct{}, h *fuse.InHeader, base string, out *fuse.EntryOut) fuse.Status {
	if len(base) > node.MaxName {
		return fuse.Status(syscall.ENAMETOOLONG)
	}
	name := node.Name{Dir: l.ino(h.NodeId), Base: base}
	n, ok, err := l.see(func(tx *tree.Tx) (*node.Node, error) { return shown(tx, name) })
	switch {
	case err != nil:
		return status(err)
	case !ok:
		out.SetEntryTimeout(forever)
		return fuse.OK
	}
	l.entry(out, &n, name)
	return fuse.OK
}

// shown returns the inode that an entry shows; nil if there is no such entry.
func shown(tx *tree.Tx, name node.Name) (*node.Node, error) {
	d, err := tx.Lookup(name.Dir, name.Base)
	if err != nil || d.Ino == 0 {
		return nil, err
	}
	return tx.NodeOf(name.Dir, node.Entry{Name: name.Base, Ino: d.Ino, Kind: d.Kind})
}

// entry replies with an inode, which the kernel knows from then on.
func (l *live) entry(out *fuse.EntryOut, n *node.Node, name node.Name) {
	out.Generation = l.inodes.met(n, name)
	l.fillEntry(out, n)
}

func (l *live) fillEntry(out *fuse.EntryOut, n *node.Node) {
	out.NodeId = uint64(n.Ino)
	out.SetEntryTimeout(forever)
	out.SetAttrTimeout(forever)
	l.fillAttr(&out.Attr, n)
}

func (l *live) fillAttr(out *fuse.Attr, n *node.Node) {
	fillAttr(out, n)
	l.user.show(out)
}

// Forget ends the kernel's use of an inode.
func (l *live) Forget(id, lookups uint64) {
	if id != fuse.FUSE_ROOT_ID {
		l.inodes.forget(l.ino(id), lookups)
	}
}

func (l *live) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	n, err := l.node(l.ino(in.NodeId))
	if err != nil {
		return status(err)
	}
	out.SetTimeout(forever)
	l.fillAttr(&out.Attr, &n)
	return fuse.OK
}

func (l *live) Readlink(_ <-chan struct{}, h *fuse.InHeader) ([]byte, fuse.Status) {
	n, err := l.node(l.ino(h.NodeId))
	switch {
	case err != nil:
		return nil, status(err)
	case n.Kind() != node.KindLink:
		return nil, fuse.EINVAL
	}
	return []byte(n.Target), fuse.OK
}

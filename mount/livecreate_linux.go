package mount

import (
	"fmt"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
)

// emptySum is the sum of a new file.
var emptySum = chunk.SumOf(nil)

// make makes an inode with a name. mode is that of stat.
func (l *live) make(h *fuse.InHeader, base string, mode uint32, set func(*node.Node), out *fuse.EntryOut) fuse.Status {
	name := node.Name{Dir: l.ino(h.NodeId), Base: base}
	var made node.Node
	err := l.batch.do(func(tx *tree.Tx) error {
		n, err := l.create(tx, name, h, mode, set)
		if err == nil {
			made = *n
		}
		return err
	})
	if err != nil {
		return status(err)
	}
	l.entry(out, &made, name)
	return fuse.OK
}

// create makes an inode as part of a transaction. In a directory with the setgid bit it has the group of the directory, and
// a directory has the bit too.
func (l *live) create(tx *tree.Tx, name node.Name, h *fuse.InHeader, mode uint32, set func(*node.Node)) (*node.Node, error) {
	p, err := l.batch.place(name.Dir, name.Base)
	if err != nil {
		return nil, err
	}
	dir, err := tx.Node(name.Dir)
	if err != nil {
		return nil, err
	}

	n := tx.NewNode(mode)
	n.Uid, n.Gid = h.Uid, h.Gid
	if dir != nil && dir.Mode&syscall.S_ISGID != 0 {
		n.Gid = dir.Gid
		if n.IsDir() {
			n.Mode |= syscall.S_ISGID
		}
	}
	if set != nil {
		set(n)
	}
	sum := chunk.Sum{}
	if n.Kind() == node.KindFile {
		sum = emptySum
	}
	if err := tx.Create(p, n, sum); err != nil {
		return nil, err
	}
	l.batch.made = append(l.batch.made, n.Ino)
	return n, nil
}

// Mknod makes a file of any type but a directory or a symlink. Since there is no Create, the kernel asks for it on open too,
// and does not show whether that is with O_EXCL. Where somebody else has just made the file, ESTALE has the kernel look the
// name up again, and then do as the flags say.
func (l *live) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	switch mode := in.Mode; uint8(mode >> 12) {
	case node.KindFile:
		code := l.make(&in.InHeader, name, mode, nil, out)
		if code == fuse.Status(syscall.EEXIST) {
			code = fuse.Status(syscall.ESTALE)
		}
		return code
	case node.KindFifo, node.KindSocket, node.KindChar, node.KindBlock:
		return l.make(&in.InHeader, name, mode, func(n *node.Node) { n.Rdev = int64(in.Rdev) }, out)
	}
	return fuse.EINVAL
}

func (l *live) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return l.make(&in.InHeader, name, node.ModeDir|in.Mode&node.PermBits, nil, out)
}

func (l *live) Symlink(_ <-chan struct{}, h *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	return l.make(h, name, node.ModeLink|0o777, func(n *node.Node) { n.Target = target }, out)
}

// Create is refused: a file that the kernel makes by Mknod, and then opens by itself, costs no Release.
func (l *live) Create(<-chan struct{}, *fuse.CreateIn, string, *fuse.CreateOut) fuse.Status {
	return fuse.ENOSYS
}

// Tmpfile makes a file without a name: it has one within the transaction only.
func (l *live) Tmpfile(_ <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	dir := l.ino(in.NodeId)
	var made node.Node
	err := l.batch.do(func(tx *tree.Tx) error {
		base, err := unused(tx, dir)
		if err != nil {
			return err
		}
		n, err := l.create(tx, node.Name{Dir: dir, Base: base}, &in.InHeader, node.ModeFile|in.Mode&node.PermBits, nil)
		if err != nil {
			return err
		}

		p, err := l.batch.place(dir, base)
		if err == nil {
			err = tx.Unlink(p)
		}
		made = *n
		if err == nil {
			out.Generation = l.inodes.met(n, node.Name{})
			l.inodes.hold(n.Ino)
		}
		return err
	})
	if err != nil {
		return status(err)
	}
	l.fillEntry(&out.EntryOut, &made)
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

// unused returns a name that a directory does not have.
func unused(tx *tree.Tx, dir node.Ino) (string, error) {
	for i := 0; ; i++ {
		base := fmt.Sprintf(".vfsdb-%d", i)
		d, err := tx.Lookup(dir, base)
		if err != nil || d.Ino == 0 {
			return base, err
		}
	}
}

func (l *live) Link(_ <-chan struct{}, in *fuse.LinkIn, base string, out *fuse.EntryOut) fuse.Status {
	ino, name := l.ino(in.Oldnodeid), node.Name{Dir: l.ino(in.NodeId), Base: base}
	err := l.batch.do(func(tx *tree.Tx) error {
		to, err := l.batch.place(name.Dir, name.Base)
		if err != nil {
			return err
		}
		n, err := tx.Node(ino)
		switch {
		case err != nil:
			return err
		case n != nil && n.Nlink == 0: // the kernel lets only files of Tmpfile come here
			return tx.Relink(ino, to)
		}

		from, err := l.placeOfInode(tx, ino)
		if err != nil {
			return err
		}
		return tx.Link(from, to)
	})
	if err != nil {
		return status(err)
	}

	n, err := l.node(ino)
	if err != nil {
		return status(err)
	}
	l.entry(out, &n, name)
	return fuse.OK
}

// placeOfInode returns a place of an inode: the name by which it was found, if that still leads there.
func (l *live) placeOfInode(tx *tree.Tx, ino node.Ino) (tree.Place, error) {
	if err := l.alive(ino); err != nil {
		return tree.Place{}, err
	}
	name := l.inodes.nameOf(ino)
	if name.Dir == 0 {
		return tree.Place{Ino: ino}, nil
	}
	d, err := tx.Lookup(name.Dir, name.Base)
	if err != nil || d.Ino != ino {
		return tree.Place{Ino: ino}, err
	}
	p, err := l.batch.placeOf(name.Dir, name.Base)
	if err == nil && p.Path == "" {
		p = tree.Place{Ino: ino}
	}
	return p, err
}

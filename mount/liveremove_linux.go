package mount

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"vfsdb/node"
	"vfsdb/tree"
)

func (l *live) Unlink(_ <-chan struct{}, h *fuse.InHeader, base string) fuse.Status {
	return l.remove(h, base, func(n *node.Node) error {
		if n.IsDir() {
			return syscall.EISDIR
		}
		return nil
	})
}

func (l *live) Rmdir(_ <-chan struct{}, h *fuse.InHeader, base string) fuse.Status {
	return l.remove(h, base, func(n *node.Node) error {
		if !n.IsDir() {
			return syscall.ENOTDIR
		}
		return nil
	})
}

// remove takes a name away. An inode that has lost its last one stays as long as the kernel knows it: a program may have
// it open.
func (l *live) remove(h *fuse.InHeader, base string, check func(*node.Node) error) fuse.Status {
	name := node.Name{Dir: l.ino(h.NodeId), Base: base}
	return status(l.batch.do(func(tx *tree.Tx) error {
		n, err := shown(tx, name)
		switch {
		case err != nil:
			return err
		case n == nil:
			return syscall.ENOENT
		}
		if err := check(n); err != nil {
			return err
		}

		p, err := l.batch.place(name.Dir, name.Base)
		if err != nil {
			return err
		}
		if err := l.lose(tx, n); err != nil {
			return err
		}
		return tx.Unlink(p)
	}))
}

// lose prepares for the loss of a name of an inode.
func (l *live) lose(tx *tree.Tx, n *node.Node) error {
	if n == nil {
		return nil
	}
	if n.Nlink == 1 {
		l.inodes.hold(n.Ino)
		return nil
	}
	return l.fold(tx, n.Ino) // its writes are recorded under the name that it had
}

func (l *live) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	old, now := node.Name{Dir: l.ino(in.NodeId), Base: from}, node.Name{Dir: l.ino(in.Newdir), Base: to}
	return status(l.batch.do(func(tx *tree.Tx) error {
		switch in.Flags {
		case 0, unix.RENAME_NOREPLACE:
			return l.rename(tx, old, now, in.Flags != 0)
		case unix.RENAME_EXCHANGE:
			return l.exchange(tx, old, now)
		}
		return syscall.EINVAL
	}))
}

func (l *live) rename(tx *tree.Tx, old, now node.Name, noReplace bool) error {
	moved, err := shown(tx, old)
	if err != nil {
		return err
	}
	over, err := shown(tx, now)
	switch {
	case err != nil:
		return err
	case moved == nil:
		return syscall.ENOENT
	case over != nil && noReplace:
		return syscall.EEXIST
	}

	from, err := l.batch.place(old.Dir, old.Base)
	if err != nil {
		return err
	}
	to, err := l.batch.place(now.Dir, now.Base)
	if err != nil {
		return err
	}
	if over == nil || over.Ino != moved.Ino {
		if err := l.lose(tx, over); err != nil {
			return err
		}
	}
	if err := tx.Rename(from, to); err != nil {
		return err
	}
	l.inodes.renamed(moved.Ino, old, now)
	if moved.IsDir() {
		l.batch.moved()
	}
	return nil
}

// exchange exchanges two names, in three renames of one commit.
func (l *live) exchange(tx *tree.Tx, old, now node.Name) error {
	for _, name := range []node.Name{old, now} {
		if n, err := shown(tx, name); err != nil || n == nil {
			return errOr(err, syscall.ENOENT)
		}
	}
	base, err := unused(tx, old.Dir)
	if err != nil {
		return err
	}
	between := node.Name{Dir: old.Dir, Base: base}

	for _, step := range [][2]node.Name{{old, between}, {now, old}, {between, now}} {
		if err := l.rename(tx, step[0], step[1], true); err != nil {
			return err
		}
	}
	return nil
}

func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

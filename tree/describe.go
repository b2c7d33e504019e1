package tree

import (
	"errors"
	"io/fs"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/schema"
)

// Info describes an inode of the tree, or returns nil if the tree does not have it. Its name is empty.
func (tx *Tx) Info(ino node.Ino) (*node.Info, error) {
	n, err := tx.Node(ino)
	return node.InfoOf(n), err
}

// InfoOf describes the inode of an entry that was listed, if that still has a name: else it is ENOENT.
func (tx *Tx) InfoOf(e node.Entry) (*node.Info, error) {
	if tx.db.Ended() {
		return nil, fs.ErrClosed
	}
	n, err := tx.Node(e.Ino)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return nil, tx.goneOrLost(e.Ino)
	case n.Nlink == 0:
		return nil, syscall.ENOENT
	case n.Kind() != e.Kind:
		return nil, errKind(e.Name, e.Kind, n)
	}
	return node.NewInfo(e.Name, n), nil
}

// goneOrLost returns why an inode that was listed is not there: somebody has removed it, or it still has names, and its
// row is lost.
func (tx *Tx) goneOrLost(ino node.Ino) error {
	names, err := tx.namesOf(ino)
	switch {
	case err != nil:
		return err
	case len(names) > 0:
		return errMissing(names[0].Dir, node.Entry{Name: names[0].Base, Ino: ino})
	}
	return syscall.ENOENT
}

// SumOfInfo returns the sum of the content that a regular file had when info was made. Content that was replaced and then
// collected is ESTALE.
func (tx *Tx) SumOfInfo(info *node.Info) (chunk.Sum, error) {
	if err := node.NodeOf(info).CheckRegular(); err != nil {
		return chunk.Sum{}, err
	}
	sum, err := chunk.SumOfContent(tx.db, node.NodeOf(info).Content)
	if errors.Is(err, schema.ErrCorrupt) {
		err = syscall.ESTALE
	}
	return sum, err
}

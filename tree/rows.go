package tree

import "vfsdb/node"

// The four functions of this file change one row each. They record no event, and read no other row. A caller that gives
// a tree the state of another, as a restore does, keeps entries and numbers of links consistent itself.

// PutEntry makes a name show an inode.
func (tx *Tx) PutEntry(name node.Name, ino node.Ino, kind uint8) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	tx.mem.Own.Moves++ // it may be a directory's
	return tx.putDirent(name.Dir, name.Base, ino, kind)
}

// DropEntry takes a name away.
func (tx *Tx) DropEntry(name node.Name) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	tx.mem.Own.Moves++
	return tx.DropDirent(name.Dir, name.Base)
}

// PutNode puts a node as the inode of its number, times and all, whether the tree has that inode or not. A node without
// names is queued for gc.
func (tx *Tx) PutNode(n *node.Node) error {
	if err := tx.toWrite(); err != nil {
		return err
	}

	have, err := tx.Node(n.Ino)
	if err != nil {
		return err
	}
	if have == nil { // a whiteout may hide it
		row, err := tx.loadInode(n.Ino)
		if err != nil {
			return err
		}
		have = &row
	}

	put := *n
	put.Level, put.Born = have.Level, have.Born
	if err := tx.putInode(&put); err != nil {
		return err
	}
	tx.mem.Own.PutNode(n.Ino, &put)
	delete(tx.mem.Own.Dirty, n.Ino)
	if put.Nlink == 0 {
		return tx.addOrphan(n.Ino)
	}
	return nil
}

// DropNode removes the inode of a number from the tree, if the tree has it.
func (tx *Tx) DropNode(ino node.Ino) error {
	if err := tx.toWrite(); err != nil {
		return err
	}
	n, err := tx.Node(ino)
	if err != nil || n == nil {
		return err
	}
	return tx.DropInode(n)
}

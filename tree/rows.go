package tree

import (
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree/level"
)

// The functions of this file change rows. They record no event, and change no other row. A caller that gives a tree the state
// of another, as a restore does, keeps entries and numbers of links consistent itself.

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

// PutNodes puts nodes as the inodes of their numbers, times and all, whether the tree has these inodes or not. Those without
// names are queued for gc.
func (tx *Tx) PutNodes(list ...*node.Node) error {
	if err := tx.toWrite(); err != nil {
		return err
	}

	// How a row is written depends on the one that the branch itself has, be it a whiteout.
	own, missing := make(map[node.Ino]*node.Node), make(map[node.Ino]bool)
	for _, n := range list {
		if own[n.Ino], _ = tx.mem.Node(n.Ino); own[n.Ino] == nil {
			own[n.Ino], missing[n.Ino] = &node.Node{Level: node.Fresh}, true
		}
	}
	err := level.Many(tx.db, nodesOfLevel, tx.tree.levels, tx.tree.filters, 1, missing, func(rows *schema.Rows, _ int) (node.Ino, error) {
		n, err := scanInode(rows, node.Ino(rows.Int(colIno)), 0)
		own[n.Ino] = &n
		return n.Ino, err
	})
	if err != nil {
		return err
	}

	for _, n := range list {
		put := *n
		put.Level, put.Born = own[n.Ino].Level, own[n.Ino].Born
		if err := tx.putInode(&put); err != nil {
			return err
		}
		tx.mem.Own.PutNode(n.Ino, &put)
		delete(tx.mem.Own.Dirty, n.Ino)
		if put.Nlink == 0 {
			if err := tx.addOrphan(n.Ino); err != nil {
				return err
			}
		}
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

package tree

import (
	"slices"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
)

// folds are the layers that the transactions of one call have folded.
type folds struct {
	list []fold
}

type fold struct {
	into  *memory.OpenInode
	layer *memory.Layer
}

// end runs when the call is over: a layer that has not landed has failed.
func (f *folds) end() {
	for _, fold := range f.list {
		fold.into.Failed(fold.layer)
	}
}

// foldKey is the key under which a transaction keeps the layers of an inode that it has folded.
type foldKey struct{ *memory.OpenInode }

// Fold makes the uncommitted writes of this store's open files to n part of its content. Each verb that gives a file
// another content does so first: earlier writes must not be laid over the new content later.
func (tx *Tx) Fold(n *node.Node) error {
	return tx.fold(n, func(name node.Name) (Place, error) { return tx.placeOfOpen(name, n.Ino) })
}

// FoldAt is Fold for a caller that knows a place of the file.
func (tx *Tx) FoldAt(n *node.Node, p Place) error {
	return tx.fold(n, func(node.Name) (Place, error) { return p, nil })
}

func (tx *Tx) fold(n *node.Node, place func(node.Name) (Place, error)) error {
	s := tx.tree.store.inodes.Uncommitted(memory.BranchIno{Branch: tx.tree.at.Branch, Ino: n.Ino})
	if s == nil {
		return nil
	}
	key := foldKey{s}
	mine, _ := tx.db.Local(key).([]*memory.Layer)
	l, name := s.Seal(tx.found(n), mine)
	if l == nil {
		return nil
	}
	tx.folds.list = append(tx.folds.list, fold{s, l})

	content, err := l.Apply(tx.db, n.Content)
	if err != nil {
		return err
	}

	op := journal.OpWrite
	if !l.HasWrites() {
		op = journal.OpTruncate
	}
	at, err := place(name)
	if err != nil {
		return err
	}
	if err := tx.Rewrite(at, op, content); err != nil {
		return err
	}

	tx.db.SetLocal(key, append(slices.Clip(mine), l))
	tx.db.AfterCommit(func() { s.Landed(l) })
	return nil
}

// foundKey is the key under which a transaction keeps the contents that it has found in the inodes of a branch, and
// replaced.
type foundKey struct{ branch int64 }

// keepFound notes the content of n, unless the transaction has changed that before.
func (tx *Tx) keepFound(n *node.Node) {
	key := foundKey{tx.tree.at.Branch}
	contents, _ := tx.db.Local(key).(map[node.Ino]chunk.Content)
	if contents == nil {
		contents = make(map[node.Ino]chunk.Content)
		tx.db.SetLocal(key, contents)
	}
	if _, changed := contents[n.Ino]; !changed {
		contents[n.Ino] = n.Content
	}
}

// found returns the committed content of n, which others see until this transaction commits.
func (tx *Tx) found(n *node.Node) chunk.Content {
	contents, _ := tx.db.Local(foundKey{tx.tree.at.Branch}).(map[node.Ino]chunk.Content)
	if c, changed := contents[n.Ino]; changed {
		return c
	}
	return n.Content
}

// rewriteOpen gives a file that is open another content. It is recorded under the entry that the file was opened by, or
// the first that it has now; a file without a name is no part of the tree.
func (tx *Tx) rewriteOpen(op journal.Op, name node.Name, n *node.Node, content chunk.Content) error {
	at, err := tx.placeOfOpen(name, n.Ino)
	if err != nil {
		return err
	}
	return tx.Rewrite(at, op, content)
}

// placeOfOpen returns the entry that a file was opened by, if it leads to the inode still, or else the inode itself.
func (tx *Tx) placeOfOpen(name node.Name, ino node.Ino) (Place, error) {
	if name.Base == "" {
		return Place{Ino: ino}, nil
	}
	d, err := tx.Lookup(name.Dir, name.Base)
	if err != nil || d.Ino != ino {
		return Place{Ino: ino}, err
	}
	switch _, err := tx.PathFrom(schema.RootIno, name.Dir); err {
	case nil:
		return Place{Dir: name.Dir, Base: name.Base}, nil
	case syscall.ENOENT:
		return Place{Ino: ino}, nil
	default:
		return Place{}, err
	}
}

// TakeWrites is Fold for all files of the branch. A caller that keeps the tree before it replaces it calls this first.
func (tx *Tx) TakeWrites() error {
	for _, ino := range tx.tree.store.inodes.UncommittedOf(tx.tree.at.Branch) {
		n, err := tx.Node(ino)
		if err == nil && n != nil {
			err = tx.Fold(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

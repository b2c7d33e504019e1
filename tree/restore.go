package tree

import (
	"syscall"

	"vfsdb/node"
	"vfsdb/schema"
)

// Restore makes the head what another tree is, in this transaction: every entry and inode that differs is put or
// removed, times and all, so that nothing differs afterwards. It returns how many rows that were. The tree may be of
// the past, another branch, or an ancestor, of the same store (else EXDEV); a directory that OpenRoot stands on is
// EINVAL, on either side. Open Files whose inode is not in it get ESTALE, and what was written to a File before is replaced
// as what is committed.
func (tx *Tx) Restore(to *Tree) (int, error) {
	if err := tx.wholeTree(); err != nil {
		return 0, err
	}
	if to.root != schema.RootIno {
		return 0, syscall.EINVAL
	}
	if to.store != tx.tree.store {
		return 0, syscall.EXDEV
	}

	// Both trees must be in the tables before their rows are compared.
	if err := tx.TakeWrites(); err != nil {
		return 0, err
	}
	if err := tx.Flush(); err != nil {
		return 0, err
	}

	src, err := to.Begin(tx.db)
	if err == nil {
		err = src.Flush() // this transaction may have written to that tree too
	}
	if err != nil {
		return 0, err
	}

	names, inos, err := changedKeys(tx, src)
	if err != nil {
		return 0, err
	}
	log := newRestoreLog(tx)
	if err := log.begin(src, names, inos); err != nil {
		return 0, err
	}

	changed := 0
	for _, name := range names {
		did, err := tx.restoreName(src, name)
		if err != nil {
			return 0, err
		}
		changed += did
	}

	for _, ino := range inos {
		did, err := tx.restoreInode(src, ino)
		if err != nil {
			return 0, err
		}
		changed += did
	}
	return changed, log.end()
}

// restoreName makes a name show what another tree shows, and returns 1 if it did not.
func (tx *Tx) restoreName(src *Tx, name node.Name) (int, error) {
	have, err := tx.Lookup(name.Dir, name.Base)
	if err != nil {
		return 0, err
	}
	want, err := src.Lookup(name.Dir, name.Base)
	switch {
	case err != nil:
		return 0, err
	case have.Ino == want.Ino && have.Kind == want.Kind:
		return 0, nil
	case want.Ino == 0:
		return 1, tx.DropEntry(name)
	}
	return 1, tx.PutEntry(name, want.Ino, want.Kind)
}

// restoreInode makes an inode what it is in another tree, and returns 1 if it was not.
func (tx *Tx) restoreInode(src *Tx, ino node.Ino) (int, error) {
	have, err := tx.Node(ino)
	if err != nil {
		return 0, err
	}
	want, err := src.Node(ino)
	switch {
	case err != nil:
		return 0, err
	case node.Same(have, want):
		return 0, nil
	case want == nil:
		return 1, tx.DropNode(ino)
	}
	return 1, tx.PutNode(want)
}

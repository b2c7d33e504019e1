package tree

import "syscall"

// On is this transaction on another tree of the same store, so that two trees are compared, and one of them changed, in
// one commit. It ends with tx. A tree of another store is EXDEV.
func (tx *Tx) On(other *Tree) (*Tx, error) {
	if other.store != tx.fsys.store {
		return nil, syscall.EXDEV
	}
	if err := tx.Flush(); err != nil {
		return nil, err
	}
	on, err := other.Begin(tx.db)
	if err == nil {
		on.folds = tx.folds
		tx.others = append(tx.others, on)
	}
	return on, err
}

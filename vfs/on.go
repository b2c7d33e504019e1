package vfs

import "syscall"

// On is this transaction on another tree of the same store, so that two trees are compared, and one of them changed, in
// one commit. It ends with tx. A tree of another store is EXDEV.
func (tx *Tx) On(other *FS) (*Tx, error) {
	if other.store != tx.fsys.store {
		return nil, syscall.EXDEV
	}
	if err := tx.flush(); err != nil {
		return nil, err
	}
	on, err := other.begin(tx.db)
	if err == nil {
		on.folds = tx.folds
		tx.others = append(tx.others, on)
	}
	return on, err
}

package tree

import "time"

// Verb runs one of many operations of a transaction that takes a while: what it changes gets the present time, and if it fails
// before it has changed anything, the transaction can go on. Otherwise the transaction is spoilt: it cannot be committed.
func (tx *Tx) Verb(fn func() error) (spoilt bool, err error) {
	tx.SetNow(time.Now().UnixNano())
	if err := tx.toWrite(); err != nil { // here, since it changes something
		return false, err
	}
	return tx.db.Whole(fn)
}

// SetNow sets the time of later changes of the transaction, in ns since 1970.
func (tx *Tx) SetNow(ns int64) { tx.now = ns }

// Now returns the time of a change that the transaction makes now, in ns since 1970.
func (tx *Tx) Now() int64 { return tx.now }

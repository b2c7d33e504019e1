package tree

import (
	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/memory"
	"vfsdb/schema"
)

// toWrite is the begin of every verb that writes rows. It refuses what Writable does, and gives each call epochs of its own:
// if somebody else has written in the present one, that ends. So the trees before and after a call can be read later, as long
// as no collection has taken their rows, and an undo finds them. A caller that holds an inode to change it may do so.
func (tx *Tx) toWrite() error {
	if err := tx.Writable(); err != nil {
		return err
	}
	b := &tx.mem.Own.Branch
	call := journal.CallOf(tx.db.Context())
	if b.Claimed && b.Owner == any(call) {
		return nil
	}

	ends, err := tx.isTaken(call)
	if err == nil && ends {
		err = tx.endEpoch()
	}
	if err != nil {
		return err
	}
	b.Claimed, b.Owner, b.Fresh, b.Step = true, call, false, 0
	return nil
}

// isTaken reports whether the present epoch is not for a call, or for writes without one, to write in.
func (tx *Tx) isTaken(call *journal.Call) (bool, error) {
	b := &tx.mem.Own.Branch
	switch {
	case b.Fresh:
		return false, nil
	case b.Claimed:
		return true, nil
	case b.Step != 0:
		return b.Step != tx.log.Call(), nil
	case call == nil:
		return false, nil
	case b.Epoch == schema.FirstEpoch: // there is no moment before it
		return true, nil
	}
	if err := tx.putDirty(); err != nil {
		return false, err
	}
	return tx.changedSince(history.Moment{Branch: tx.tree.at.Branch, Epoch: tx.epoch() - 1})
}

// endEpoch ends the epoch of the head.
func (tx *Tx) endEpoch() error {
	if err := tx.putDirty(); err != nil {
		return err
	}
	memory.Carry(tx.db) // the tree shows the same
	b := &tx.mem.Own.Branch
	if err := history.SetEpoch(tx.db, tx.tree.at.Branch, b.Epoch+1); err != nil {
		return err
	}
	*b = memory.BranchState{Known: b.Known, Epoch: b.Epoch + 1, Collecting: b.Collecting, Fresh: true}
	return nil
}

// EndStep ends the epoch of the head if something was written in it, and returns the moment at its end.
func (tx *Tx) EndStep() (history.Moment, error) {
	if err := tx.wholeTree(); err != nil {
		return history.Moment{}, err
	}
	if err := tx.Flush(); err != nil {
		return history.Moment{}, err
	}
	if !tx.mem.Own.Branch.Fresh {
		if err := tx.endEpoch(); err != nil {
			return history.Moment{}, err
		}
	}
	return history.Moment{Branch: tx.tree.at.Branch, Epoch: tx.epoch() - 1}, nil
}

// Past stands on a past moment that nothing may keep. It can be read as long as it is whole, see [history.Whole], and is
// ESTALE afterwards.
func (tx *Tx) Past(at history.Moment) (*Tree, error) {
	past, err := tx.tree.store.Stand(tx.db, at)
	if err == nil {
		past.loose = true
	}
	return past, err
}

// Claim makes the present epoch a step of the call that the transaction is part of, also if nothing changes in it, and returns
// the number of the call; 0 if there is none.
func (tx *Tx) Claim() (call int64, err error) {
	if err := tx.toWrite(); err != nil {
		return 0, err
	}
	if call, err = tx.log.RecordCall(); err != nil || call == 0 {
		return 0, err
	}
	return call, tx.log.AddStep(tx.epoch(), call)
}

package schema

import (
	"maps"
)

// idBlock is how many numbers of a counter a connection reserves at a time. Those that it has not used when it closes, or
// when another one commits, are never used.
const idBlock = 256

// gapless are the counters without gaps: a reader sees by the number that it missed some.
var gapless = map[string]bool{"change": true, "call": true}

// NextID takes the next number of a counter. Numbers only grow: those of a later commit are higher than those of an
// earlier one, of whatever process, and none is given out twice.
//
// The counter's row is read and written once for many numbers, at the commit that uses the first of them. They stay
// with the connection until another one commits, which may have taken higher ones.
func (tx *Tx) NextID(counter string) (int64, error) {
	r, err := tx.idsOf(counter)
	if err != nil {
		return 0, err
	}
	if tx.ids == nil {
		tx.ids = make(ids)
	}
	tx.changed = true
	id := r.next
	r.next++
	tx.ids[counter] = r
	return id, nil
}

// idsOf returns the numbers of a counter that come next.
func (tx *Tx) idsOf(counter string) (idRange, error) {
	if r, known := tx.ids[counter]; known {
		return r, nil
	}
	if r, known := tx.conn.ids[counter]; known {
		return r, nil
	}
	next, err := tx.Reached(counter)
	return idRange{next, next}, err
}

// PeekID returns the number of a counter that [Tx.NextID] would take.
func (tx *Tx) PeekID(counter string) (int64, error) {
	r, err := tx.idsOf(counter)
	return r.next, err
}

// writeIDs moves the counters behind the numbers that were taken, and reserves some more.
func (tx *Tx) writeIDs() error {
	for counter, r := range tx.ids {
		if r.next <= r.end {
			continue
		}
		r.end = r.next
		if !gapless[counter] {
			r.end += idBlock
		}
		if err := tx.Reach(counter, r.end); err != nil {
			return err
		}
		tx.ids[counter] = r
	}
	return nil
}

// keepIDs is called after the commit.
func (tx *Tx) keepIDs() {
	if tx.conn.ids == nil {
		tx.conn.ids = make(ids)
	}
	maps.Copy(tx.conn.ids, tx.ids)
}

// LastID bounds ids. No counter comes near it, and a number below it can be added to without overflow.
const LastID = 1 << 60

// Reached returns the next number of a counter, which it does not take. A counter that is missing, or has a number that none
// ever reaches, is [ErrCorrupt].
func (tx *Tx) Reached(counter string) (int64, error) {
	at, ok, err := tx.Int(`SELECT next FROM counter WHERE name = ?`, counter)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, Corrupt("the counter of %s is missing", counter)
	case at < FirstID || at > LastID:
		return 0, Corrupt("the counter of %s stands at %d", counter, at)
	}
	return at, nil
}

// Reach moves a counter forward; it never goes back.
func (tx *Tx) Reach(counter string, at int64) error {
	_, err := tx.Exec(`UPDATE counter SET next = max(next, ?) WHERE name = ?`, at, counter)
	return err
}

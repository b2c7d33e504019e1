package hold

import (
	"errors"
	"fmt"
	"time"

	"vfsdb/schema"
)

// ErrGone means that the row of a lease is missing: a collector took its process for dead.
var ErrGone = errors.New("the lease is gone")

// putLease writes our row and deletes the pins that are to be made anew. It returns the row's id, which is another one if
// the row was gone. While streams run it leaves their floor and their pinned blobs alone.
func putLease(tx *schema.Tx, id int64, at mark, now time.Time, quiet bool) (int64, error) {
	text, drop := `UPDATE lease SET orphan = ?, round = ?, beat = ? WHERE id = ?`, dropFilePins
	if quiet {
		text, drop = `UPDATE lease SET orphan = ?, round = ?, beat = ?, floor = 9223372036854775807 WHERE id = ?`, dropPins
	}
	if id != 0 {
		switch n, err := tx.Exec(text, at.orphan, at.round, now.UnixNano(), id); {
		case err != nil:
			return 0, err
		case n != 0:
			return id, drop(tx, id)
		}
	}
	_, err := tx.Exec(`INSERT INTO lease (owner, floor, orphan, round, beat) VALUES (?, 9223372036854775807, ?, ?, ?)`,
		owner(), at.orphan, at.round, now.UnixNano())
	return tx.LastID(), err
}

// Lower lowers the floor of a lease to newest, the highest id of a blob, so that it is below all blobs that are added from
// now on. It counts as a heartbeat. A lease that has no row any more is [ErrGone].
func Lower(tx *schema.Tx, lease, newest int64, now time.Time) error {
	n, err := tx.Exec(`UPDATE lease SET floor = min(floor, ?), beat = ? WHERE id = ?`, newest, now.UnixNano(), lease)
	if err == nil && n == 0 {
		err = ErrGone
	}
	return err
}

// Exists reports whether a lease still has its row.
func Exists(tx *schema.Tx, lease int64) (bool, error) {
	_, ok, err := tx.Int(`SELECT id FROM lease WHERE id = ?`, lease)
	return ok, err
}

func dropLease(tx *schema.Tx, id int64) error {
	if err := dropPins(tx, id); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM lease WHERE id = ?`, id)
	return err
}

// A Holder is a lease as a collector sees it.
type Holder struct {
	ID    int64
	Owner string
	Round int64 // the last request of a collector that it has answered
	Beat  int64

	left bool // by a store of this process that is closed
}

// Holders returns the leases that have not answered round.
func Holders(tx *schema.Tx, round int64) ([]Holder, error) {
	file, err := tx.ID()
	if err != nil {
		return nil, err
	}
	var list []Holder
	rows := tx.Query(`SELECT id, owner, round, beat FROM lease WHERE round < ? ORDER BY id`, round)
	for rows.Next() {
		h := Holder{ID: rows.Int(0), Owner: rows.Text(1), Round: rows.Int(2), Beat: rows.Int(3)}
		h.left = isLeft(file, h.ID)
		list = append(list, h)
	}
	return list, rows.Err()
}

// Dead reports whether the holder of the lease is gone, provably or by its heartbeat.
func (h Holder) Dead(now time.Time) bool { return h.left || Dead(h.Owner, h.Beat, now.UnixNano()) }

// Gone reports whether the holder is provably gone: its process, or a store of this process that was closed and could not
// delete its lease.
func (h Holder) Gone() bool { return h.left || gone(h.Owner) }

// Bury deletes a lease whose holder is dead, and its pins.
func Bury(tx *schema.Tx, h Holder) error {
	if err := dropLease(tx, h.ID); err != nil {
		return fmt.Errorf("drop lease: %w", err)
	}
	return nil
}

// Floor returns the lowest floor of all leases: blobs with a higher id may be staged.
func Floor(tx *schema.Tx) (int64, error) {
	floor, ok, err := tx.Int(`SELECT min(floor) FROM lease`)
	if !ok {
		floor = schema.Forever
	}
	return floor, err
}

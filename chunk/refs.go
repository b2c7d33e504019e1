package chunk

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"vfsdb/schema"
)

// What follows is the collector's side of the tables that this room writes. It decides nothing: which rows may go is
// for the room gc to know.

// Owner returns the name of this process, as it stands in a lease.
func Owner() string { return owner() }

// A Holder is what a lease tells a collector.
type Holder struct {
	ID    int64
	Owner string
	Round int64 // the last request of a collector that it has answered
	Beat  int64

	left bool // by a store of this process that is closed
}

// Dead reports whether the holder of the lease is gone.
func (h Holder) Dead(now time.Time) bool { return h.left || Dead(h.Owner, h.Beat, now.UnixNano()) }

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
		h.left = leftBehind(file, h.ID)
		list = append(list, h)
	}
	return list, rows.Err()
}

// Gone reports whether whoever holds the lease is provably no more: its process, or a store of this process that was
// closed and could not delete it.
func (h Holder) Gone() bool { return h.left || gone(h.Owner) }

// DropLease deletes a lease whose holder is dead, and its pins.
func DropLease(tx *schema.Tx, h Holder) error {
	if err := dropLease(tx, h.ID); err != nil {
		return fmt.Errorf("drop lease: %w", err)
	}
	return nil
}

// Answer publishes what is open now, as Publish does, if the lease has a row at all. A collector of this process calls
// it rather than wait for the heartbeat.
func (l *Lease) Answer(ctx context.Context) error {
	if id, err := l.known(); id == 0 || err != nil {
		return err
	}
	return l.Publish(ctx)
}

// Floor returns the lowest floor of all leases: whatever has a higher id than it may be staged.
func Floor(tx *schema.Tx) (int64, error) {
	floor, ok, err := tx.Int(`SELECT min(floor) FROM lease`)
	if !ok {
		floor = schema.Forever
	}
	return floor, err
}

// PinnedContent returns the pins of blobs and manifests, of all leases. A process that was suspended for long may pin
// what is gone; that is left out.
func PinnedContent(tx *schema.Tx) ([]Pin, error) {
	var list []Pin
	rows := tx.Query(`SELECT DISTINCT kind, id FROM pin
		WHERE kind = 2 AND EXISTS (SELECT 1 FROM blob WHERE blob.id = pin.id) OR kind = 3 AND EXISTS (SELECT 1 FROM manifest WHERE manifest.id = pin.id)`)
	for rows.Next() {
		list = append(list, Pin{Kind: int(rows.Int(0)), ID: rows.Int(1)})
	}
	return list, rows.Err()
}

// Newest returns the highest id of a blob and of a manifest; 0 where there is none.
func Newest(tx *schema.Tx) (blob, manifest int64, err error) {
	if blob, err = maxBlob(tx); err != nil {
		return 0, 0, err
	}
	manifest, _, err = tx.Int(`SELECT max(id) FROM manifest`)
	return blob, manifest, err
}

// Stored lists the ids of up to limit blobs, or manifests, in the order of their sums from behind after on. The index
// of sums answers, so no content is read. next is where to go on; done says that there are no more.
func Stored(tx *schema.Tx, kind int, after Sum, limit int) (ids []int64, next Sum, done bool, err error) {
	text := `SELECT id, sum FROM blob WHERE sum > ? ORDER BY sum LIMIT ?`
	if kind == PinManifest {
		text = `SELECT id, sum FROM manifest WHERE sum > ? ORDER BY sum LIMIT ?`
	}
	next = after
	rows := tx.Query(text, after[:], limit)
	defer rows.Close()
	for rows.Next() {
		ids = append(ids, rows.Int(0))
		last := next
		switch {
		case !next.scan(rows, 1):
			return nil, next, false, schema.Corrupt("content %d has no sum in the index", rows.Int(0))
		case bytes.Compare(next[:], last[:]) <= 0:
			return nil, next, false, schema.Corrupt("the index of sums is out of order at content %d", rows.Int(0))
		}
	}
	return ids, next, len(ids) < limit, rows.Err()
}

// StoredSize returns how many bytes a blob takes, or has, if it is in a pack; 0 if there is none.
func StoredSize(tx *schema.Tx, blob int64) (int64, error) {
	size, _, err := tx.Int(`SELECT CASE codec WHEN 2 THEN size ELSE length(data) END FROM blob WHERE id = ?`, blob)
	return size, err
}

// Delete deletes a blob, or a manifest, that nothing points at, and returns how many there were: 1 or 0. What others
// are stored over stays.
func Delete(tx *schema.Tx, kind int, id int64) (n int64, err error) {
	if is, err := isBase(tx, kind, id); err != nil || is {
		return 0, err
	}
	if kind == PinManifest {
		n, err = deleteManifest(tx, id)
	} else {
		n, err = deleteBlob(tx, id)
	}
	if err != nil {
		return 0, fmt.Errorf("delete content %d: %w", id, err)
	}
	return n, nil
}

func deleteManifest(tx *schema.Tx, id int64) (n int64, err error) {
	base, err := baseManifest(tx, id)
	if err != nil {
		return 0, err
	}
	n, err = tx.Exec(`DELETE FROM manifest WHERE id = ?`, id)
	if base != 0 && err == nil {
		err = dropPatch(tx, PinManifest, base, id)
	}
	return n, err
}

// deleteBlob deletes a blob, and what says how it is stored.
func deleteBlob(tx *schema.Tx, id int64) (n int64, err error) {
	from, _, err := packOf(tx, id)
	if err != nil {
		return 0, err
	}
	base, err := baseOf(tx, id)
	if err != nil {
		return 0, err
	}
	if n, err = tx.Exec(`DELETE FROM blob WHERE id = ?`, id); err != nil {
		return 0, err
	}
	if from.pack != 0 {
		err = leavePack(tx, from.pack)
	}
	if base != 0 && err == nil {
		err = dropPatch(tx, PinBlob, base, id)
	}
	return n, err
}

// Touched returns up to limit entries of the write barrier. The collector that has heeded them deletes them with
// Forget.
func Touched(tx *schema.Tx, limit int) ([]Pin, error) {
	var list []Pin
	rows := tx.Query(`SELECT kind, id FROM touched ORDER BY kind, id LIMIT ?`, limit)
	for rows.Next() {
		list = append(list, Pin{Kind: int(rows.Int(0)), ID: rows.Int(1)})
	}
	return list, rows.Err()
}

// Forget deletes one entry of the write barrier.
func Forget(tx *schema.Tx, p Pin) error {
	n, err := tx.Exec(`DELETE FROM touched WHERE kind = ? AND id = ?`, p.Kind, p.ID)
	if err == nil && n == 0 {
		err = schema.Corrupt("table touched lists content %d, and does not find it", p.ID)
	}
	return err
}

// ForgetAll deletes all entries of the write barrier: a collection begins, or ends.
func ForgetAll(tx *schema.Tx) error {
	_, err := tx.Exec(`DELETE FROM touched`)
	return err
}

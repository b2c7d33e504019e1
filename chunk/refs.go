package chunk

import (
	"bytes"
	"fmt"

	"vfsdb/hold"
	"vfsdb/schema"
)

// This file is the collector's side of content. It decides nothing: gc knows which rows may go.

// PinnedContent returns the pins of blobs and manifests of all leases. It leaves out content that is gone, which a process
// may pin that was suspended for long.
func PinnedContent(tx *schema.Tx) ([]hold.Pin, error) {
	var list []hold.Pin
	rows := tx.Query(`SELECT DISTINCT kind, id FROM pin
		WHERE kind = 2 AND EXISTS (SELECT 1 FROM blob WHERE blob.id = pin.id) OR kind = 3 AND EXISTS (SELECT 1 FROM manifest WHERE manifest.id = pin.id)`)
	for rows.Next() {
		list = append(list, hold.Pin{Kind: int(rows.Int(0)), ID: rows.Int(1)})
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

// Stored lists the ids of up to limit blobs, or manifests, in the order of their sums from behind after on. It reads the
// index of sums, and no content. next is the sum to go on from; done means that there are no more.
func Stored(tx *schema.Tx, kind int, after Sum, limit int) (ids []int64, next Sum, done bool, err error) {
	text := `SELECT id, sum FROM blob WHERE sum > ? ORDER BY sum LIMIT ?`
	if kind == hold.Manifest {
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

// Delete deletes a blob, or a manifest, that nothing points at, and returns how many there were: 1 or 0. A base that
// something is stored over stays.
func Delete(tx *schema.Tx, kind int, id int64) (n int64, err error) {
	if is, err := isBase(tx, kind, id); err != nil || is {
		return 0, err
	}
	if kind == hold.Manifest {
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
		err = dropPatch(tx, hold.Manifest, base, id)
	}
	return n, err
}

// deleteBlob deletes a blob, its row in the table patch, and its pack if it was the last blob in it.
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
		err = dropPatch(tx, hold.Blob, base, id)
	}
	return n, err
}

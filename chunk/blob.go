package chunk

import (
	"fmt"

	"vfsdb/schema"
)

// addBlob stores a chunk, unless its sum is there already. frame is the result of squeeze, or nil.
func addBlob(tx *schema.Tx, sum Sum, p, frame []byte) (id int64, added bool, err error) {
	if len(p) == 0 || len(p) > Size {
		panic(fmt.Sprintf("chunk: a chunk of %d bytes", len(p)))
	}
	if id, err = tx.NextID("blob"); err != nil {
		return 0, false, err
	}

	codec, data := plain, p
	if frame != nil {
		codec, data = squeezed, frame
	}

	if len(data) < long {
		n, err := tx.Exec(`INSERT OR IGNORE INTO blob (id, sum, size, codec, data) VALUES (?, ?, ?, ?, ?)`, id, sum[:], len(p), codec, data)
		if err != nil {
			return 0, false, fmt.Errorf("store chunk: %w", err)
		}
		return id, n == 1, nil
	}

	// The row comes first, with zeros for the bytes, and then its bytes.
	n, err := tx.Exec(`INSERT OR IGNORE INTO blob (id, sum, size, codec, data) VALUES (?, ?, ?, ?, zeroblob(?))`, id, sum[:], len(p), codec, len(data))
	if err == nil && n == 1 {
		err = tx.WriteBlob("blob", "data", id, data)
	}
	if err != nil {
		return 0, false, fmt.Errorf("store chunk: %w", err)
	}
	return id, n == 1, nil
}

// long is the length from which on bytes are written into their row once it is there, rather than with it.
const long = 4 << 10

// findBlob returns the id of the chunk with this sum, or 0. The answer of the index of sums is compared with the row: a
// damaged index must not give new content the bytes of another.
func findBlob(tx *schema.Tx, sum Sum) (id int64, err error) {
	id, found, err := tx.Int(`SELECT id FROM blob WHERE sum = ?`, sum[:])
	if err != nil {
		return 0, fmt.Errorf("find chunk: %w", err)
	}
	if !found {
		return 0, nil
	}
	stored, err := blobSum(tx, id)
	if err == nil && stored != sum {
		err = &CorruptError{Sum: sum, Blob: id, Why: "has another sum in its row than in the index"}
	}
	return id, err
}

// blobSum returns the sum of a blob without reading its data.
func blobSum(tx *schema.Tx, id int64) (Sum, error) {
	rows := tx.Query(`SELECT sum FROM blob WHERE id = ?`, id)
	defer rows.Close()
	var sum Sum
	switch {
	case !rows.Next():
		return Sum{}, orMissing(rows, &CorruptError{Blob: id, Why: "missing"})
	case !sum.scan(rows, 0):
		return Sum{}, &CorruptError{Blob: id, Why: "has no sum in its row"}
	}
	return sum, nil
}

// blobSize returns the id and the stored length of the chunk with this sum, without reading its data.
func blobSize(tx *schema.Tx, sum Sum) (id, size int64, err error) {
	if id, err = findBlob(tx, sum); err != nil {
		return 0, 0, err
	}
	if id == 0 {
		return 0, 0, &CorruptError{Sum: sum, Why: "missing"}
	}
	size, _, err = tx.Int(`SELECT size FROM blob WHERE id = ?`, id)
	return id, size, err
}

// maxBlob returns the highest id that a blob has, or 0. Every blob added later has a higher one.
func maxBlob(tx *schema.Tx) (int64, error) {
	id, _, err := tx.Int(`SELECT max(id) FROM blob`)
	return id, err
}

// loadBlob fills p with the one chunk with this sum, and verifies it.
func loadBlob(tx *schema.Tx, sum Sum, p []byte) error {
	return loadBlobBy(tx, sum, p, SumOf)
}

// loadBlobBy is loadBlob with another SumOf, which may keep the chain of the chunk.
func loadBlobBy(tx *schema.Tx, sum Sum, p []byte, sumOf func(p []byte) Sum) error {
	rows := tx.Query(`SELECT id, sum, size, codec, data FROM blob WHERE sum = ?`, sum[:])
	defer rows.Close()
	if !rows.Next() {
		return orMissing(rows, &CorruptError{Sum: sum, Why: "missing"})
	}
	return verify(tx, rows, sum, p, sumOf)
}

// loadBlobID fills p with the chunk of a blob, and verifies it.
func loadBlobID(tx *schema.Tx, id int64, p []byte) error {
	return loadBlobIDBy(tx, id, p, SumOf)
}

func loadBlobIDBy(tx *schema.Tx, id int64, p []byte, sumOf func(p []byte) Sum) error {
	rows := tx.Query(`SELECT id, sum, size, codec, data FROM blob WHERE id = ?`, id)
	defer rows.Close()
	if !rows.Next() {
		return orMissing(rows, &CorruptError{Blob: id, Why: "missing"})
	}
	return verify(tx, rows, Sum{}, p, sumOf)
}

// verify fills p, which is as long as the chunk ought to be, from a row, and compares the bytes with the sum in the row. If
// want is not zero, the row must have that sum. After a failure p is all zeros.
func verify(tx *schema.Tx, rows *schema.Rows, want Sum, p []byte, sumOf func(p []byte) Sum) error {
	damage := &CorruptError{Blob: rows.Int(0)}
	if !damage.Sum.scan(rows, 1) || !want.IsZero() && want != damage.Sum {
		damage.Sum, damage.Why = want, "has another sum in its row"
		clear(p)
		return damage
	}

	why, err := unfold(tx, rows, p)
	switch {
	case err != nil:
		clear(p)
		return err
	case why != "":
		damage.Why = why
	case sumOf(p) != damage.Sum:
		damage.Why = "bytes do not match their sum"
	default:
		return rows.Close()
	}
	clear(p)
	return damage
}

// orMissing returns the error that kept a row away, or damage if the row is not there.
func orMissing(rows *schema.Rows, damage *CorruptError) error {
	if err := rows.Close(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return damage
}

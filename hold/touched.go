package hold

import (
	"fmt"

	"vfsdb/schema"
)

// Touch notes that a row of content gained a reference, if a collection runs. kind is [Blob] or [Manifest].
func Touch(tx *schema.Tx, kind int, id int64) error {
	_, err := tx.Exec(`INSERT OR IGNORE INTO touched (kind, id) SELECT ?, ? FROM gc WHERE id = 1024 AND phase <> 0`, kind, id)
	if err != nil {
		return fmt.Errorf("note a reference: %w", err)
	}
	return nil
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

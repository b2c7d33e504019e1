package chunk

import (
	"fmt"

	"vfsdb/schema"
)

// touch notes that a row of content gained a reference, if a collection runs.
func touch(tx *schema.Tx, kind int, id int64) error {
	_, err := tx.Exec(`INSERT OR IGNORE INTO touched (kind, id) SELECT ?, ? FROM gc WHERE id = 1024 AND phase <> 0`, kind, id)
	if err != nil {
		return fmt.Errorf("note a reference: %w", err)
	}
	return nil
}

package hold

import (
	"fmt"

	"vfsdb/schema"
)

// Kinds of pins. The first two are also the kinds of touched, doomed and patched content.
const (
	Blob     = 2 // ID is of a blob, Branch 0
	Manifest = 3 // ID is of a manifest, Branch 0
	Inode    = 4 // ID is the inode number in Branch
	Moment   = 5 // ID is an epoch of Branch
)

// A Pin names one thing that no collector may take while our lease lives.
type Pin struct {
	Kind   int
	Branch int64
	ID     int64
}

// AddPin has a lease keep one thing. To pin it again changes nothing.
func AddPin(tx *schema.Tx, lease int64, p Pin) error {
	_, err := tx.Exec(`INSERT OR IGNORE INTO pin (lease, kind, branch, id) VALUES (?, ?, ?, ?)`, lease, p.Kind, p.Branch, p.ID)
	if err != nil {
		return fmt.Errorf("pin: %w", err)
	}
	return nil
}

// dropPins deletes the pins of a lease.
func dropPins(tx *schema.Tx, lease int64) error {
	_, err := tx.Exec(`DELETE FROM pin WHERE lease = ?`, lease)
	return err
}

// dropFilePins deletes the pins of a lease but those of blobs, some of which a running stream may have made.
func dropFilePins(tx *schema.Tx, lease int64) error {
	_, err := tx.Exec(`DELETE FROM pin WHERE lease = ? AND kind > 2`, lease)
	return err
}

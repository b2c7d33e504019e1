package tree

import (
	"vfsdb/node"
	"vfsdb/schema"
)

// addOrphan queues an inode without names for gc.
func (tx *Tx) addOrphan(ino node.Ino) error {
	_, err := tx.db.Exec(`INSERT INTO orphan (branch, ino) VALUES (?, ?)`, tx.tree.at.Branch, int64(ino))
	return err
}

// NewestOrphan returns the number of the orphan that was queued last; 0 if none is queued.
func NewestOrphan(db *schema.Tx) (int64, error) {
	seq, _, err := db.Int(`SELECT max(seq) FROM orphan`)
	return seq, err
}

// DropOrphan takes an orphan off the queue.
func DropOrphan(db *schema.Tx, seq int64) error {
	n, err := db.Exec(`DELETE FROM orphan WHERE seq = ?`, seq)
	return foundRow(n, err, "orphan", seq)
}

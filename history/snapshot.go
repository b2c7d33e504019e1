package history

import (
	"time"

	"vfsdb/schema"
)

// AddSnapshot names a moment. A name must have been looked for before: a second one is an error of the file.
func AddSnapshot(db *schema.Tx, name string, at Moment, created time.Time, note string) error {
	_, err := db.Exec(`INSERT INTO snapshot (name, branch, epoch, created, note) VALUES (?, ?, ?, ?, ?)`,
		name, at.Branch, at.Epoch, created.UnixNano(), note)
	return err
}

// RenameSnapshot gives a moment another name, by the number of the snapshot. The name must have been looked for before. One
// that [CheckName] refuses is EINVAL.
func RenameSnapshot(db *schema.Tx, id int64, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	_, err := db.Exec(`UPDATE snapshot SET name = ? WHERE id = ?`, name, id)
	return err
}

// DeleteSnapshot takes the name from a moment, by the number of the snapshot.
func DeleteSnapshot(db *schema.Tx, id int64) error {
	_, err := db.Exec(`DELETE FROM snapshot WHERE id = ?`, id)
	return err
}

// DeleteSnapshotIDs is DeleteSnapshot for many, in one statement.
func DeleteSnapshotIDs(db *schema.Tx, ids []int64) error {
	_, err := db.Exec(`DELETE FROM snapshot WHERE id IN (SELECT value FROM json_each(?))`, schema.List(ids))
	return err
}

// DeleteSnapshots deletes all snapshots of a branch, given by its name.
func DeleteSnapshots(db *schema.Tx, branch string) error {
	_, err := db.Exec(`DELETE FROM snapshot NOT INDEXED WHERE branch = (SELECT id FROM branch NOT INDEXED WHERE name = ?)`, branch)
	return err
}

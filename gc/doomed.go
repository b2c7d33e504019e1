package gc

import (
	"vfsdb/hold"
	"vfsdb/node"
	"vfsdb/schema"
)

// condemn puts content on the list of the sweep.
func condemn(tx *schema.Tx, kind int, id int64) error {
	_, err := tx.Exec(`INSERT OR IGNORE INTO doomed (kind, id) VALUES (?, ?)`, kind, id)
	return err
}

// pardon takes content off the list.
func pardon(tx *schema.Tx, kind int, id int64) error {
	_, err := tx.Exec(`DELETE FROM doomed WHERE kind = ? AND id = ?`, kind, id)
	return err
}

// pardonAbove takes content off the list that is newer than floor.
func pardonAbove(tx *schema.Tx, kind int, floor int64) error {
	_, err := tx.Exec(`DELETE FROM doomed WHERE kind = ? AND id > ?`, kind, floor)
	return err
}

// isDoomed reports whether content is on the list.
func isDoomed(tx *schema.Tx, kind int, id int64) (bool, error) {
	_, ok, err := tx.Int(`SELECT id FROM doomed WHERE kind = ? AND id = ?`, kind, id)
	return ok, err
}

// condemned returns up to limit contents of the list, oldest first.
func condemned(tx *schema.Tx, kind, limit int) (ids []int64, err error) {
	rows := tx.Query(`SELECT id FROM doomed WHERE kind = ? ORDER BY id LIMIT ?`, kind, limit)
	for rows.Next() {
		ids = append(ids, rows.Int(0))
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, id := range ids {
		is, err := isDoomed(tx, kind, id)
		if err != nil {
			return nil, err
		}
		if !is { // it could not be taken off the list either, and the sweep would never end
			return nil, schema.Corrupt("table doomed lists content %d, but a look-up does not find it", id)
		}
	}
	return ids, nil
}

// reset empties the lists of a collection and begins a phase.
func reset(tx *schema.Tx, phase int) error {
	if err := hold.ForgetAll(tx); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM doomed`); err != nil {
		return err
	}
	return hold.SetPhase(tx, phase)
}

// checkDoomed fails with [schema.ErrCorrupt] if a sweep would take content that an inode names. Content that gains a
// reference while a collection runs is in the table touched before, and the sweep heeds that first.
//
// Room check has the same statements: it trusts no room to read a table for it.
func checkDoomed(db *schema.Tx) error {
	if _, some, err := db.Int(`SELECT id FROM doomed LIMIT 1`); err != nil || !some {
		return err
	}
	for kind, text := range map[int]string{
		hold.Blob: `SELECT id FROM doomed WHERE kind = 2 AND id IN (SELECT blob FROM inode WHERE blob IS NOT NULL)
			AND NOT EXISTS (SELECT 1 FROM touched t WHERE t.kind = 2 AND t.id = doomed.id)`,
		hold.Manifest: `SELECT id FROM doomed WHERE kind = 3 AND id IN (SELECT manifest FROM inode WHERE manifest IS NOT NULL)
			AND NOT EXISTS (SELECT 1 FROM touched t WHERE t.kind = 3 AND t.id = doomed.id)`,
	} {
		id, found, err := db.Int(text)
		if err == nil && found {
			err = schema.Corrupt("content %d of kind %d is in use, and doomed", id, kind)
		}
		if err != nil {
			return err
		}
	}
	return checkDoomedTerms(db)
}

// checkDoomedTerms is checkDoomed for the contents of conflicts.
func checkDoomedTerms(db *schema.Tx) error {
	rows := db.Query(`SELECT conflict FROM inode WHERE conflict IS NOT NULL`)
	defer rows.Close()
	for rows.Next() {
		for _, c := range node.Conflict(rows.Text(0)).Contents() {
			id, doomed, err := db.Int(`SELECT id FROM doomed WHERE (kind = 2 AND id = ?1 OR kind = 3 AND id = ?2)
				AND NOT EXISTS (SELECT 1 FROM touched t WHERE t.kind = doomed.kind AND t.id = doomed.id)`, c.Blob, c.Manifest)
			if err == nil && doomed {
				err = schema.Corrupt("content %d of a conflict is in use, and doomed", id)
			}
			if err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

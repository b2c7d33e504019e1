package schema

import (
	"cmp"
	"fmt"
)

// Integrity asks SQLite whether the file is well formed, each index agrees with its table, and no constraint is broken. It
// returns at most limit complaints.
func (tx *Tx) Integrity(limit int) ([]string, error) {
	var faults []string
	rows := tx.Query(fmt.Sprintf(`PRAGMA integrity_check(%d)`, limit))
	for rows.Next() {
		if s := rows.Text(0); s != "ok" {
			faults = append(faults, s)
		}
	}
	return faults, rows.Err()
}

// Sound asks SQLite whether the indexes of some tables agree with the tables. It reads all of them, so the tables should be
// small. A complaint is [ErrCorrupt].
func (tx *Tx) Sound(tables ...string) error {
	for _, table := range tables {
		rows := tx.Query(fmt.Sprintf(`PRAGMA integrity_check(%s)`, table))
		for rows.Next() {
			if what := rows.Text(0); what != "ok" {
				rows.Close()
				return Corrupt("table %s: %s", table, what)
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Vacuum gives back up to pages free pages to the host's file system, and returns how many are still free.
func (tx *Tx) Vacuum(pages int) (free int64, err error) {
	if _, err := tx.Exec(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, pages)); err != nil {
		return 0, err
	}
	free, _, err = tx.Int(`PRAGMA freelist_count`)
	return free, err
}

// Pages returns how many pages the file has, and how many of them are free.
func (tx *Tx) Pages() (total, free int64, err error) {
	if total, _, err = tx.Int(`PRAGMA page_count`); err != nil {
		return 0, 0, err
	}
	free, _, err = tx.Int(`PRAGMA freelist_count`)
	return total, free, err
}

// ID returns the random id that the file got when it was created. A copy of the file has the same.
func (tx *Tx) ID() (string, error) {
	rows := tx.Query(`SELECT value FROM meta WHERE key = 'id'`)
	defer rows.Close()
	if rows.Next() {
		return rows.Text(0), nil
	}
	return "", cmp.Or(rows.Err(), ErrForeign)
}

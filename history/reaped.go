package history

import "vfsdb/schema"

// AddReaped notes that rows of a branch that died by an epoch may be gone: of its moments before that, only those are whole
// that something keeps.
func AddReaped(db *schema.Tx, branch, epoch int64) error {
	_, err := db.Exec(`INSERT INTO reaped (branch, epoch) VALUES (?, ?) ON CONFLICT (branch) DO UPDATE SET epoch = max(epoch, excluded.epoch)`, branch, epoch)
	return err
}

// Whole reports whether a past moment can be read as it was: something keeps it, or no collection has taken rows of it. One
// of a dropped branch can only be read through the lineage of a fork.
func Whole(db *schema.Tx, at Moment) (bool, error) {
	reaped, _, err := db.Int(`SELECT epoch FROM reaped WHERE branch = ?`, at.Branch)
	if err != nil {
		return false, err
	}
	if at.Epoch < reaped {
		if kept, err := Kept(db, at); err != nil || !kept {
			return false, err
		}
	}
	return hasLineage(db, at)
}

// hasLineage reports whether a branch or a fork has the lineage that a moment is read through, and so keeps what ancestors
// have of the moment.
func hasLineage(db *schema.Tx, at Moment) (bool, error) {
	_, named, err := ReadBranch(db, at.Branch)
	if err != nil || named {
		return named, err
	}
	n, _, err := db.Int(`SELECT EXISTS (SELECT 1 FROM lineage WHERE ancestor = ? AND epoch >= ? AND level > 0)`, at.Branch, at.Epoch)
	return n == 1, err
}

// FindLineage is [ReadLineage] for a moment that may be of a dropped branch. Where no fork has kept the lineage, it is the
// branch alone.
func FindLineage(db *schema.Tx, at Moment) ([]Level, error) {
	there, err := hasLineage(db, at)
	if err != nil || !there {
		return []Level{{at.Branch, at.Epoch}}, err
	}
	return ReadLineage(db, at)
}

// Nearest returns the names of the snapshots of a branch that are nearest to a moment: the last one before it, and the first
// one after it, as far as there are any.
func Nearest(db *schema.Tx, at Moment) (names []string, err error) {
	rows := db.Query(`SELECT name FROM (SELECT name, epoch FROM snapshot WHERE branch = ?1 AND epoch <= ?2 ORDER BY epoch DESC LIMIT 1)
		UNION ALL SELECT name FROM (SELECT name, epoch FROM snapshot WHERE branch = ?1 AND epoch > ?2 ORDER BY epoch LIMIT 1)`, at.Branch, at.Epoch)
	for rows.Next() {
		names = append(names, rows.Text(0))
	}
	return names, rows.Err()
}

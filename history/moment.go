package history

import (
	"vfsdb/schema"
)

// A Moment is a point in a branch's history: what its tree was at the end of an epoch.
type Moment struct{ Branch, Epoch int64 }

// Final reports whether the tree of a moment can never change again.
func (at Moment) Final() bool { return at.Epoch != schema.Head }

// A Level is one step of a lineage: rows of branch, up to the epoch Cap.
type Level struct{ Branch, Cap int64 }

// MaxDepth is how many ancestors a lineage has at most: a fork that would have more squashes the middle ones into one.
const MaxDepth = 16

// ReadLineage returns the levels that a moment is read through, nearest first. Every look-up goes through all of them,
// so one that is longer than a fork makes it is refused. So is one that does not lead from the branch itself, level by
// level, to branches that there are: names would vanish, or be those of others.
func ReadLineage(db *schema.Tx, at Moment) ([]Level, error) {
	var levels []Level
	rows := db.Query(`SELECT l.level, l.ancestor, l.epoch, b.epoch FROM lineage l LEFT JOIN branch b ON b.id = l.ancestor
		WHERE l.branch = ? ORDER BY l.level`, at.Branch)
	defer rows.Close()
	for rows.Next() {
		n, l := rows.Int(0), Level{rows.Int(1), rows.Int(2)}
		switch {
		case n > MaxDepth:
			return nil, schema.Corrupt("the lineage of branch %d has more than %d levels", at.Branch, MaxDepth)
		case n != int64(len(levels)), n == 0 && l != Level{at.Branch, schema.Head}:
			return nil, schema.Corrupt("the lineage of branch %d has branch %d in the place of level %d", at.Branch, l.Branch, len(levels))
		case rows.Null(3), n > 0 && l.Cap > rows.Int(3):
			return nil, schema.Corrupt("the lineage of branch %d leads to epoch %d of branch %d, which never was", at.Branch, l.Cap, l.Branch)
		}
		levels = append(levels, l)
	}

	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(levels) == 0 {
		return nil, schema.Corrupt("branch %d has no lineage", at.Branch)
	}
	levels[0].Cap = at.Epoch
	return levels, nil
}

// Kept reports whether a snapshot or a fork keeps a past moment.
func Kept(db *schema.Tx, at Moment) (bool, error) {
	n, _, err := db.Int(`SELECT EXISTS (SELECT 1 FROM snapshot WHERE branch = ?1 AND epoch = ?2)
		OR EXISTS (SELECT 1 FROM lineage WHERE ancestor = ?1 AND epoch = ?2)`, at.Branch, at.Epoch)
	if err != nil || n == 1 {
		return n == 1, err
	}
	n, _, err = db.Int(`SELECT EXISTS (SELECT 1 FROM snapshot NOT INDEXED WHERE branch = ?1 AND epoch = ?2)
		OR EXISTS (SELECT 1 FROM lineage WHERE +ancestor = ?1 AND +epoch = ?2)`, at.Branch, at.Epoch)
	if err == nil && n == 1 {
		err = schema.Corrupt("the indexes of kept moments do not have moment %d of branch %d", at.Epoch, at.Branch)
	}
	return false, err
}

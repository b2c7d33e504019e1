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

// lineageOf has the lineage of a branch, and lineageOfFork that of a past moment, as a branch goes on with it that was forked
// there or later. A branch that is dropped has no lineage of its own, and its moments stay as long as a fork keeps them.
const (
	lineageOf = `SELECT l.level, l.ancestor, l.epoch, b.epoch FROM lineage l LEFT JOIN branch b ON b.id = l.ancestor
		WHERE l.branch = ?1 ORDER BY l.level`
	lineageOfFork = `SELECT l.level - f.level, l.ancestor, iif(l.level = f.level, ?2, l.epoch), b.epoch
		FROM (SELECT branch, level FROM lineage WHERE ancestor = ?1 AND epoch >= ?2 AND level > 0 ORDER BY branch LIMIT 1) f
		CROSS JOIN lineage l ON l.branch = f.branch AND l.level >= f.level
		LEFT JOIN branch b ON b.id = l.ancestor ORDER BY l.level`
)

// ReadLineage returns the levels that a moment is read through, nearest first. Every look-up goes through all of them,
// so one that is longer than a fork makes it is refused. So is one that does not lead from the branch itself, level by
// level, to branches that there are: names would vanish, or be those of others.
func ReadLineage(db *schema.Tx, at Moment) ([]Level, error) {
	levels, err := readLevels(db.Query(lineageOf, at.Branch), at, schema.Head)
	if err == nil && len(levels) == 0 && at.Final() {
		levels, err = readLevels(db.Query(lineageOfFork, at.Branch, at.Epoch), at, at.Epoch)
	}
	if err != nil {
		return nil, err
	}
	if len(levels) == 0 {
		return nil, schema.Corrupt("branch %d has no lineage", at.Branch)
	}
	levels[0].Cap = at.Epoch
	return levels, nil
}

// readLevels reads the levels of a lineage whose first one is the branch of a moment, up to an epoch.
func readLevels(rows *schema.Rows, at Moment, epoch int64) (levels []Level, err error) {
	defer rows.Close()
	for rows.Next() {
		n, l := rows.Int(0), Level{rows.Int(1), rows.Int(2)}
		switch {
		case n > MaxDepth:
			return nil, schema.Corrupt("the lineage of branch %d has more than %d levels", at.Branch, MaxDepth)
		case n != int64(len(levels)), n == 0 && l != Level{at.Branch, epoch}:
			return nil, schema.Corrupt("the lineage of branch %d has branch %d in the place of level %d", at.Branch, l.Branch, len(levels))
		case rows.Null(3), n > 0 && l.Cap > rows.Int(3):
			return nil, schema.Corrupt("the lineage of branch %d leads to epoch %d of branch %d, which never was", at.Branch, l.Cap, l.Branch)
		}
		levels = append(levels, l)
	}
	return levels, rows.Err()
}

// Kept reports whether a snapshot, a fork or a merge keeps a past moment.
func Kept(db *schema.Tx, at Moment) (bool, error) {
	n, _, err := db.Int(`SELECT EXISTS (SELECT 1 FROM snapshot WHERE branch = ?1 AND epoch = ?2)
		OR EXISTS (SELECT 1 FROM lineage WHERE ancestor = ?1 AND epoch = ?2)
		OR EXISTS (SELECT 1 FROM merge WHERE source = ?1 AND cap = ?2 AND branch <> source)`, at.Branch, at.Epoch)
	if err != nil || n == 1 {
		return n == 1, err
	}
	n, _, err = db.Int(`SELECT EXISTS (SELECT 1 FROM snapshot NOT INDEXED WHERE branch = ?1 AND epoch = ?2)
		OR EXISTS (SELECT 1 FROM lineage WHERE +ancestor = ?1 AND +epoch = ?2)
		OR EXISTS (SELECT 1 FROM merge WHERE +source = ?1 AND +cap = ?2 AND branch <> source)`, at.Branch, at.Epoch)
	if err == nil && n == 1 {
		err = schema.Corrupt("the indexes of kept moments do not have moment %d of branch %d", at.Epoch, at.Branch)
	}
	return false, err
}

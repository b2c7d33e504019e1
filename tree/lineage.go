package tree

import (
	"cmp"
	"fmt"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/schema"
)

// A Moment is a point in a branch's history: what its tree was at the end of an epoch.
type Moment struct{ Branch, Epoch int64 }

// A Level is one step of a lineage: rows of branch, as of cap.
type Level struct{ Branch, Cap int64 }

// ownLevel is the number of the level that is the branch itself.
var ownLevel = []int{0}

// maxDepth is how many ancestors a lineage has at most: a fork that would have more squashes the middle ones into one.
const MaxDepth = 16

// readLineage returns the levels that a moment is read through, nearest first. Every look-up goes through all of them,
// so one that is longer than a fork makes it is refused. So is one that does not lead from the branch itself, level by
// level, to branches that there are: names would vanish, or be those of others.
func readLineage(db *schema.Tx, at Moment) ([]Level, error) {
	var levels []Level
	rows := db.Query(`SELECT l.level, l.ancestor, l.epoch, b.epoch FROM lineage l LEFT JOIN branch b ON b.id = l.ancestor
		WHERE l.branch = ? ORDER BY l.level`, at.Branch)
	defer rows.Close()
	for rows.Next() {
		n, l := rows.Int(0), Level{rows.Int(1), rows.Int(2)}
		switch {
		case n > MaxDepth:
			return nil, corrupt("the lineage of branch %d has more than %d levels", at.Branch, MaxDepth)
		case n != int64(len(levels)), n == 0 && l != Level{at.Branch, schema.Head}:
			return nil, corrupt("the lineage of branch %d has branch %d in the place of level %d", at.Branch, l.Branch, len(levels))
		case rows.Null(3), n > 0 && l.Cap > rows.Int(3):
			return nil, corrupt("the lineage of branch %d leads to epoch %d of branch %d, which never was", at.Branch, l.Cap, l.Branch)
		}
		levels = append(levels, l)
	}

	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(levels) == 0 {
		return nil, corrupt("branch %d has no lineage", at.Branch)
	}
	levels[0].Cap = at.Epoch
	return levels, nil
}

// wholeTree refuses what concerns a branch and not a directory of it: through an OpenRoot tree it is EINVAL.
func (tx *Tx) wholeTree() error {
	if tx.fsys.root != schema.RootIno {
		return syscall.EINVAL
	}
	return tx.Writable()
}

// Kept reports whether a snapshot or a fork keeps a past moment.
func (tx *Tx) Kept(at Moment) (bool, error) { return momentKept(tx.db, at) }

// momentKept reports whether a snapshot or a fork keeps a past moment.
func momentKept(db *schema.Tx, at Moment) (bool, error) {
	n, _, err := db.Int(`SELECT EXISTS (SELECT 1 FROM snapshot WHERE branch = ?1 AND epoch = ?2)
		OR EXISTS (SELECT 1 FROM lineage WHERE ancestor = ?1 AND epoch = ?2)`, at.Branch, at.Epoch)
	if err != nil || n == 1 {
		return n == 1, err
	}
	n, _, err = db.Int(`SELECT EXISTS (SELECT 1 FROM snapshot NOT INDEXED WHERE branch = ?1 AND epoch = ?2)
		OR EXISTS (SELECT 1 FROM lineage WHERE +ancestor = ?1 AND +epoch = ?2)`, at.Branch, at.Epoch)
	if err == nil && n == 1 {
		err = corrupt("the indexes of kept moments do not have moment %d of branch %d", at.Epoch, at.Branch)
	}
	return false, err
}

// frozen is what a transaction notes of a moment that it has frozen, which nothing keeps yet.
type frozen Moment

// Freeze ends the head's epoch and returns the moment that it was. What is written from now on does not change it.
// The caller must keep the moment, by a row of its own, in this same transaction.
func (tx *Tx) Freeze() (Moment, error) {
	if err := tx.wholeTree(); err != nil {
		return Moment{}, err
	}
	if err := tx.Flush(); err != nil {
		return Moment{}, err
	}
	at := Moment{tx.fsys.at.Branch, tx.epoch()}
	invalidationOf(tx.db) // the tree shows the same
	if _, err := tx.db.Exec(`UPDATE branch SET epoch = ? WHERE id = ?`, at.Epoch+1, at.Branch); err != nil {
		return Moment{}, err
	}
	tx.own.branch.epoch = at.Epoch + 1
	tx.db.SetLocal(frozen(at), true)
	return at, nil
}

// Fork makes a branch that starts as the tree was at a past moment: one that was frozen in this same transaction, or
// that something keeps, else it is ESTALE. It costs a row per level of lineage, whatever the size of the tree. A name
// that is taken is EEXIST.
func (tx *Tx) Fork(at Moment, name string) error {
	if err := tx.wholeTree(); err != nil {
		return err
	}
	epoch, named, err := ReadBranch(tx.db, at.Branch)
	switch {
	case err != nil:
		return err
	case !named:
		return syscall.ESTALE
	case at.Epoch >= epoch:
		return fmt.Errorf("%w: only a past moment can be forked; freeze the head first", syscall.EINVAL)
	}
	if tx.db.Local(frozen(at)) == nil {
		if kept, err := tx.Kept(at); err != nil || !kept {
			return cmp.Or(err, error(syscall.ESTALE))
		}
	}
	if err := tx.Flush(); err != nil {
		return err
	}

	id, err := tx.newBranch(name)
	if err != nil {
		return err
	}
	levels, err := readLineage(tx.db, at)
	if err != nil {
		return err
	}
	if levels, err = tx.dropEmptyLevels(levels); err != nil {
		return err
	}
	if len(levels) > MaxDepth {
		if levels, err = tx.squash(levels); err != nil {
			return err
		}
	}

	levels = append([]Level{{id, schema.Head}}, levels...)
	for i, l := range levels {
		if _, err := tx.db.Exec(`INSERT INTO lineage (branch, level, ancestor, epoch) VALUES (?, ?, ?, ?)`, id, i, l.Branch, l.Cap); err != nil {
			return err
		}
	}
	return nil
}

// ForkEmpty makes a branch that starts as an empty root.
func (tx *Tx) ForkEmpty(name string) error {
	if err := tx.wholeTree(); err != nil {
		return err
	}
	id, err := tx.newBranch(name)
	if err != nil {
		return err
	}
	if _, err := tx.db.Exec(`INSERT INTO lineage (branch, level, ancestor, epoch) VALUES (?1, 0, ?1, 9223372036854775806)`, id); err != nil {
		return err
	}
	invalidationOf(tx.db) // nobody has read the tree
	root := &node.Node{Ino: schema.RootIno, Mode: node.ModeDir | 0o755, Nlink: 1, Mtime: tx.now, Ctime: tx.now, Btime: tx.now}
	return insertInode(tx.db, id, schema.FirstEpoch, root)
}

// dropEmptyLevels leaves out levels that hold no rows, so a chain of forks without changes does not grow.
// The deepest level stays: it holds the root.
func (tx *Tx) dropEmptyLevels(levels []Level) ([]Level, error) {
	var kept []Level
	for i, l := range levels {
		if i < len(levels)-1 {
			n, _, err := tx.db.Int(`SELECT EXISTS (SELECT 1 FROM inode WHERE branch = ?1 AND born <= ?2)
				OR EXISTS (SELECT 1 FROM dirent WHERE branch = ?1 AND born <= ?2)`, l.Branch, l.Cap)
			if err != nil {
				return nil, err
			}
			if n == 0 {
				continue
			}
		}
		kept = append(kept, l)
	}
	return kept, nil
}

// squash merges all levels but the deepest into one frozen branch without a name. The nearest row wins, so levels are
// copied nearest first and a key that is there already stays.
func (tx *Tx) squash(levels []Level) ([]Level, error) {
	if _, err := tx.db.Exec(`INSERT INTO branch (name, epoch, created) VALUES (NULL, 2, ?)`, tx.now); err != nil {
		return nil, err
	}
	id := tx.db.LastID()
	for _, l := range levels[:len(levels)-1] {
		if err := tx.copyLevel(id, l); err != nil {
			return nil, err
		}
	}
	return []Level{{id, schema.FirstEpoch}, levels[len(levels)-1]}, nil
}

// copyLevel copies the rows that a level shows into the branch id, where they live for good.
func (tx *Tx) copyLevel(id int64, l Level) error {
	invalidationOf(tx.db) // no tree shows the copies yet
	for _, text := range []string{
		`INSERT OR IGNORE INTO dirent (branch, parent, name, died, born, ino, kind)
			SELECT ?1, parent, name, 9223372036854775807, 2, ino, kind FROM dirent WHERE branch = ?2 AND died > ?3 AND born <= ?3`,
		`INSERT OR IGNORE INTO inode (branch, ino, died, born, ` + inodeFields + `)
			SELECT ?1, ino, 9223372036854775807, 2, ` + inodeFields + `
			FROM inode WHERE branch = ?2 AND died > ?3 AND born <= ?3`,
	} {
		if _, err := tx.db.Exec(text, id, l.Branch, l.Cap); err != nil {
			return err
		}
	}

	// The copies refer to content, which a collection that runs must know.
	if !tx.gc {
		return nil
	}
	rows := tx.db.Query(`SELECT size, blob, manifest FROM inode WHERE branch = ? AND (blob IS NOT NULL OR manifest IS NOT NULL)`, id)
	for rows.Next() {
		c := chunk.Content{Size: rows.Int(0), Blob: rows.Int(1), Manifest: rows.Int(2)}
		if err := chunk.Touch(tx.db, c); err != nil {
			rows.Close()
			return err
		}
	}
	return rows.Err()
}

package tree

import (
	"cmp"
	"fmt"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/history"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
)

// ownLevel is the number of the level that is the branch itself.
var ownLevel = []int{0}

// wholeTree refuses what concerns a branch and not a directory of it: through an OpenRoot tree it is EINVAL.
func (tx *Tx) wholeTree() error {
	if tx.tree.root != schema.RootIno {
		return syscall.EINVAL
	}
	return tx.Writable()
}

// frozen is what a transaction notes of a moment that it has frozen, which nothing keeps yet.
type frozen history.Moment

// Freeze ends the head's epoch and returns its moment, which later writes do not change.
// The caller must keep the moment, by a row of its own, in this same transaction.
func (tx *Tx) Freeze() (history.Moment, error) {
	if err := tx.wholeTree(); err != nil {
		return history.Moment{}, err
	}
	if err := tx.Flush(); err != nil {
		return history.Moment{}, err
	}
	at := history.Moment{Branch: tx.tree.at.Branch, Epoch: tx.epoch()}
	if err := tx.endEpoch(); err != nil {
		return history.Moment{}, err
	}
	tx.db.SetLocal(frozen(at), true)
	return at, nil
}

// Fork makes a branch that starts as the tree was at a past moment: one that was frozen in this same transaction, or
// that is whole or this store holds, else it is ESTALE. A moment that this store holds may be one of a dropped branch.
// It costs a row per level of lineage, whatever the size of the tree. A name that is taken is EEXIST.
func (tx *Tx) Fork(at history.Moment, name string) error {
	if err := tx.wholeTree(); err != nil {
		return err
	}
	levels := tx.tree.store.holding(at)
	epoch, named, err := history.ReadBranch(tx.db, at.Branch)
	switch {
	case err != nil:
		return err
	case !named && levels == nil:
		return syscall.ESTALE
	case at.Epoch >= epoch:
		return fmt.Errorf("%w: only a past moment can be forked; freeze the head first", syscall.EINVAL)
	}
	if tx.db.Local(frozen(at)) == nil && levels == nil {
		if whole, err := history.Whole(tx.db, at); err != nil || !whole {
			return cmp.Or(err, error(syscall.ESTALE))
		}
	}
	if err := tx.Flush(); err != nil {
		return err
	}

	id, err := history.AddBranch(tx.db, name, tx.now)
	if err != nil {
		return err
	}
	if levels == nil {
		if levels, err = history.ReadLineage(tx.db, at); err != nil {
			return err
		}
	}
	from := levels
	if levels, err = tx.dropEmptyLevels(levels); err != nil {
		return err
	}
	deep := len(levels) > history.MaxDepth
	if deep {
		if levels, err = tx.squash(levels); err != nil {
			return err
		}
	}
	return history.AddFork(tx.db, id, levels, from, deep)
}

// ForkEmpty makes a branch that starts as an empty root.
func (tx *Tx) ForkEmpty(name string) error {
	if err := tx.wholeTree(); err != nil {
		return err
	}
	id, err := history.AddBranch(tx.db, name, tx.now)
	if err != nil {
		return err
	}
	if err := history.AddLineage(tx.db, id, nil); err != nil {
		return err
	}
	memory.Carry(tx.db) // nobody has read the tree
	root := &node.Node{Ino: schema.RootIno, Mode: node.ModeDir | 0o755, Nlink: 1, Mtime: tx.now, Ctime: tx.now, Btime: tx.now}
	return insertInode(tx.db, id, schema.FirstEpoch, root)
}

// dropEmptyLevels leaves out levels that hold no rows and have taken in nothing, so a chain of forks without changes does
// not grow. The deepest level stays: it holds the root. A level that kept its state in a merge has decided by that, and
// later merges have to find its moment.
func (tx *Tx) dropEmptyLevels(levels []history.Level) ([]history.Level, error) {
	var kept []history.Level
	for i, l := range levels {
		if i < len(levels)-1 {
			n, _, err := tx.db.Int(`SELECT EXISTS (SELECT 1 FROM inode WHERE branch = ?1 AND born <= ?2)
				OR EXISTS (SELECT 1 FROM dirent WHERE branch = ?1 AND born <= ?2)
				OR EXISTS (SELECT 1 FROM merge WHERE branch = ?1 AND epoch <= ?2)`, l.Branch, l.Cap)
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
func (tx *Tx) squash(levels []history.Level) ([]history.Level, error) {
	id, err := history.AddAncestor(tx.db, tx.now)
	if err != nil {
		return nil, err
	}
	for _, l := range levels[:len(levels)-1] {
		if err := tx.copyLevel(id, l); err != nil {
			return nil, err
		}
	}
	return []history.Level{{Branch: id, Cap: schema.FirstEpoch}, levels[len(levels)-1]}, nil
}

// copyLevel copies the rows that a level shows into the branch id, where they live for good.
func (tx *Tx) copyLevel(id int64, l history.Level) error {
	memory.Carry(tx.db) // no tree shows the copies yet
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
	rows := tx.db.Query(`SELECT size, blob, manifest, conflict FROM inode WHERE branch = ? AND (blob IS NOT NULL OR manifest IS NOT NULL OR conflict IS NOT NULL)`, id)
	for rows.Next() {
		c := chunk.Content{Size: rows.Int(0), Blob: rows.Int(1), Manifest: rows.Int(2)}
		if err := tx.touchAll(&node.Node{Content: c, Conflict: node.Conflict(rows.Text(3))}); err != nil {
			rows.Close()
			return err
		}
	}
	return rows.Err()
}

// RenameBranch gives a branch another name, see [history.RenameBranch].
func (tx *Tx) RenameBranch(from, to string) error {
	if err := history.RenameBranch(tx.db, from, to); err != nil {
		return err
	}
	memory.Carry(tx.db) // the tree shows the same
	return nil
}

// DropBranch frees the name of a branch. Branches forked from it keep what they inherited; gc takes the rest. The
// branch main stays: EPERM. A tree that stands on the branch gets ESTALE.
func (tx *Tx) DropBranch(name string) error {
	id, err := history.DropBranch(tx.db, name)
	if err != nil {
		return err
	}
	memory.Carry(tx.db) // the commit's statements show that a moment may not be kept any more
	memory.InvalidateBranch(tx.db, id)
	return nil
}

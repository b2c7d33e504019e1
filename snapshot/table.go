package snapshot

import (
	"cmp"
	"syscall"
	"time"

	"vfsdb/history"
	"vfsdb/schema"
	"vfsdb/vfs"
)

const columns = `SELECT s.id, s.name, b.name, s.branch, s.epoch, s.created, s.note FROM snapshot s JOIN branch b ON b.id = s.branch`

func scan(rows *schema.Rows) Info {
	return Info{
		ID: rows.Int(0), Name: rows.Text(1), Branch: rows.Text(2),
		Moment:  vfs.Moment{Branch: rows.Int(3), Epoch: rows.Int(4)},
		Created: time.Unix(0, rows.Int(5)), Note: rows.Text(6),
	}
}

func selectAll(db *schema.Tx) ([]Info, error) {
	return collect(db.Query(columns + ` ORDER BY s.id`))
}

func selectOf(db *schema.Tx, branch int64) ([]Info, error) {
	return collect(db.Query(columns+` WHERE s.branch = ? ORDER BY s.epoch`, branch))
}

// selectBetween returns the snapshots of a branch in some epochs, from one to another.
func selectBetween(db *schema.Tx, branch, from, to int64) ([]Info, error) {
	return collect(db.Query(columns+` WHERE s.branch = ? AND s.epoch BETWEEN ? AND ? ORDER BY s.epoch, s.id`, branch, from, to))
}

func collect(rows *schema.Rows) ([]Info, error) {
	var list []Info
	for rows.Next() {
		list = append(list, scan(rows))
	}
	return list, rows.Err()
}

// selectOne finds a snapshot by its name. It trusts the index of names only as far as the rows agree, because a damaged
// index must neither hide a snapshot nor show another one.
func selectOne(db *schema.Tx, name string) (Info, error) {
	id, listed, err := db.Int(`SELECT id FROM snapshot WHERE name = ?`, name)
	if err != nil {
		return Info{}, err
	}

	// If the index has no such name, the rows must not have it either.
	if !listed {
		_, there, err := db.Int(`SELECT id FROM snapshot NOT INDEXED WHERE name = ?`, name)
		if err == nil && !there {
			return Info{}, syscall.ENOENT
		}
		return Info{}, cmp.Or(err, wrongIndex(name))
	}

	list, err := collect(db.Query(columns+` WHERE s.id = ?`, id))
	if err == nil && (len(list) == 0 || list[0].Name != name) {
		err = wrongIndex(name)
	}
	if err != nil {
		return Info{}, err
	}

	if at := list[0].Moment; at.Epoch < schema.FirstEpoch || at.Epoch >= schema.Head {
		return Info{}, schema.Corrupt("snapshot %q is of epoch %d", name, at.Epoch)
	}
	return list[0], nil
}

// isListed reports whether the index of names has a snapshot called name.
func isListed(db *schema.Tx, name string) (bool, error) {
	_, listed, err := db.Int(`SELECT id FROM snapshot WHERE name = ?`, name)
	return listed, err
}

func wrongIndex(name string) error {
	return schema.Corrupt("the index of snapshots is wrong about %q, or its branch is missing", name)
}

// remove deletes a snapshot.
func remove(db *schema.Tx, name string) error {
	info, err := selectOne(db, name)
	if err != nil {
		return err
	}
	return history.DeleteSnapshot(db, info.ID)
}

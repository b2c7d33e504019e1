package snapshot

import (
	"syscall"
	"time"

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

func collect(rows *schema.Rows) ([]Info, error) {
	var list []Info
	for rows.Next() {
		list = append(list, scan(rows))
	}
	return list, rows.Err()
}

func selectOne(db *schema.Tx, name string) (Info, error) {
	rows := db.Query(columns+` WHERE s.name = ?`, name)
	defer rows.Close()
	if rows.Next() {
		return scan(rows), nil
	}
	if err := rows.Err(); err != nil {
		return Info{}, err
	}
	return Info{}, syscall.ENOENT
}

func insert(db *schema.Tx, info *Info) error {
	_, err := db.Exec(`INSERT INTO snapshot (name, branch, epoch, created, note) VALUES (?, ?, ?, ?, ?)`,
		info.Name, info.Moment.Branch, info.Moment.Epoch, info.Created.UnixNano(), info.Note)
	return err
}

func remove(db *schema.Tx, name string) error {
	n, err := db.Exec(`DELETE FROM snapshot WHERE name = ?`, name)
	if err == nil && n == 0 {
		err = syscall.ENOENT
	}
	return err
}

// removeOf deletes the snapshots of a branch.
func removeOf(db *schema.Tx, branch string) error {
	_, err := db.Exec(`DELETE FROM snapshot WHERE branch = (SELECT id FROM branch WHERE name = ?)`, branch)
	return err
}

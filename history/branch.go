package history

import (
	"fmt"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"vfsdb/schema"
)

// MainBranch is the branch that a new store has. It cannot be renamed or deleted.
const MainBranch = "main"

// A Branch is a line of history with a head that can be written.
type Branch struct {
	ID      int64
	Name    string
	Created time.Time
	Depth   int // levels of its lineage: 1 if it was not forked from another

	// Base is the branch that it continues, and Fork the moment of that which it began as. A fork of a branch that had
	// no changes of its own continues what that one did. Both are zero where there is none, or it was dropped.
	Base string
	Fork Moment
}

// Branches returns the branches of a store, oldest first.
func Branches(db *schema.Tx) ([]Branch, error) {
	var list []Branch
	rows := db.Query(`SELECT b.id, b.name, b.created, (SELECT count(*) FROM lineage l WHERE l.branch = b.id), base.name, base.id, up.epoch
		FROM branch b LEFT JOIN lineage up ON up.branch = b.id AND up.level = 1 LEFT JOIN branch base ON base.id = up.ancestor
		WHERE b.name IS NOT NULL ORDER BY b.id`)
	for rows.Next() {
		b := Branch{ID: rows.Int(0), Name: rows.Text(1), Created: time.Unix(0, rows.Int(2)), Depth: int(rows.Int(3))}
		if b.Base = rows.Text(4); b.Base != "" {
			b.Fork = Moment{Branch: rows.Int(5), Epoch: rows.Int(6)}
		}
		list = append(list, b)
	}
	return list, rows.Err()
}

// ReadBranch returns the epoch that a branch is in; named is false if the branch was dropped, or never was.
func ReadBranch(db *schema.Tx, id int64) (epoch int64, named bool, err error) {
	rows := db.Query(`SELECT epoch, name IS NOT NULL FROM branch WHERE id = ?`, id)
	defer rows.Close()
	if rows.Next() {
		epoch, named = rows.Int(0), rows.Int(1) == 1
	}
	return epoch, named, rows.Err()
}

// FindBranch finds a branch by its name. It compares the result of the index of names with the row. If the index finds
// none, it searches the rows too: a damaged index must not open another branch, nor hide one.
func FindBranch(db *schema.Tx, name string) (int64, error) {
	id, listed, err := db.Int(`SELECT id FROM branch WHERE name = ?`, name)
	if err != nil {
		return 0, err
	}
	there := false
	if listed {
		_, there, err = db.Int(`SELECT id FROM branch WHERE id = ? AND +name = ?`, id, name)
	} else {
		_, there, err = db.Int(`SELECT id FROM branch NOT INDEXED WHERE name = ?`, name)
	}

	switch {
	case err != nil:
		return 0, err
	case listed != there:
		return 0, schema.Corrupt("the index of branches is wrong about %q", name)
	case !there && name == MainBranch:
		return 0, schema.Corrupt("there is no branch %s", name) // it can neither be renamed nor deleted
	case !there:
		return 0, syscall.ENOENT
	}
	return id, nil
}

// maxName bounds the name of a branch or a snapshot, in bytes.
const maxName = 255

// CheckName refuses a name that no branch or snapshot may have with EINVAL: an empty one, one over 255 bytes, one with
// a slash, an '@', a space or a control character in it, one that is not UTF-8, one that starts with '-'.
func CheckName(name string) error {
	bad := func(r rune) bool { return r == '/' || r == '@' || unicode.IsSpace(r) || unicode.IsControl(r) }
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || name[0] == '-' || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("%w: a name is 1 to %d bytes of UTF-8 without '/', '@' and spaces, and does not start with '-'", syscall.EINVAL, maxName)
	}
	return nil
}

// AddBranch adds a branch in its first epoch, and returns its number. A name that is taken is EEXIST, one that
// [CheckName] refuses EINVAL.
func AddBranch(db *schema.Tx, name string, now int64) (int64, error) {
	if err := CheckName(name); err != nil {
		return 0, err
	}
	_, err := db.Exec(`INSERT INTO branch (name, epoch, created) VALUES (?, 2, ?)`, name, now)
	if schema.Conflict(err) {
		return 0, syscall.EEXIST
	}
	return db.LastID(), err
}

// AddAncestor adds a branch without a name, for other branches to read through.
func AddAncestor(db *schema.Tx, now int64) (int64, error) {
	_, err := db.Exec(`INSERT INTO branch (name, epoch, created) VALUES (NULL, 2, ?)`, now)
	return db.LastID(), err
}

// AddLineage gives a new branch its lineage: the branch itself, and then the levels that it inherits from.
func AddLineage(db *schema.Tx, id int64, inherited []Level) error {
	for i, l := range append([]Level{{id, schema.Head}}, inherited...) {
		_, err := db.Exec(`INSERT INTO lineage (branch, level, ancestor, epoch) VALUES (?, ?, ?, ?)`, id, i, l.Branch, l.Cap)
		if err != nil {
			return err
		}
	}
	return nil
}

// SetEpoch puts a branch in another epoch.
func SetEpoch(db *schema.Tx, id, epoch int64) error {
	_, err := db.Exec(`UPDATE branch SET epoch = ? WHERE id = ?`, epoch, id)
	return err
}

// RenameBranch gives a branch another name. The branch main keeps its own: EPERM.
func RenameBranch(db *schema.Tx, from, to string) error {
	if from == MainBranch {
		return syscall.EPERM
	}
	if err := CheckName(to); err != nil {
		return err
	}
	id, err := FindBranch(db, from)
	if err != nil {
		return err
	}
	_, err = db.Exec(`UPDATE branch SET name = ? WHERE id = ?`, to, id)
	if schema.Conflict(err) {
		return syscall.EEXIST
	}
	return err
}

// DropBranch frees the name of a branch, and returns its number. The branch main stays: EPERM.
func DropBranch(db *schema.Tx, name string) (id int64, err error) {
	if name == MainBranch {
		return 0, syscall.EPERM
	}
	if id, err = FindBranch(db, name); err != nil {
		return 0, err
	}
	if _, err := db.Exec(`UPDATE branch SET name = NULL WHERE id = ?`, id); err != nil {
		return 0, err
	}
	// Descendants have rows of their whole lineage, so only those of the branch go.
	_, err = db.Exec(`DELETE FROM lineage WHERE branch = ?`, id)
	return id, err
}

// DeleteBranch deletes the rows of a branch without a name, and the notes of its merges.
func DeleteBranch(db *schema.Tx, id int64) error {
	for _, text := range []string{
		`DELETE FROM lineage WHERE branch = ?`, `DELETE FROM merge WHERE branch = ?1 OR source = ?1`, `DELETE FROM reaped WHERE branch = ?`,
		`DELETE FROM branch WHERE id = ? AND name IS NULL`,
	} {
		if _, err := db.Exec(text, id); err != nil {
			return err
		}
	}
	return nil
}

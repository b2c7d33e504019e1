package journal

import (
	"maps"
	"slices"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/schema"
)

// A Forgetting is what Forget takes out of the record.
type Forgetting struct {
	Inos  []node.Ino
	Paths []string    // of the inodes, for rows that have no numbers of inodes
	Sums  []chunk.Sum // of contents of the inodes
	Keep  []chunk.Sum // of contents that others have too, and keep

	Repeats func(text string) bool // reports whether a command line or an error has a part of a content; nil: none has
}

// Forget takes out of the record the sums of all contents that some inodes ever had, wherever they stand, and the targets
// of symlinks; and of the calls that changed these inodes the digest, the error and the command line, which may repeat a
// content. Of other calls it takes these if the command line or the error does repeat one. The rows stay. It returns how many changes and calls it altered.
func Forget(tx *schema.Tx, f Forgetting) (changes, calls int64, err error) {
	tx.SetMemo(nil) // it may know a row that changes
	mine := make(map[node.Ino]bool)
	for _, ino := range f.Inos {
		mine[ino] = true
	}

	gone, err := f.sums(tx, mine)
	if err != nil {
		return 0, 0, err
	}
	found, called, err := f.find(tx, mine, gone)
	if err != nil {
		return 0, 0, err
	}

	if err := f.repeating(tx, called); err != nil {
		return 0, 0, err
	}

	for _, row := range found {
		n, err := tx.Exec(`UPDATE change SET before = iif(?2, NULL, before), after = iif(?3, NULL, after),
			arg = iif(?4 AND op = 'symlink', NULL, arg) WHERE seq = ?1`, row.seq, row.before, row.after, row.mine)
		if err != nil {
			return 0, 0, err
		}
		changes += n
	}
	for call := range called {
		n, err := tx.Exec(`UPDATE call SET digest = NULL, error = '', command = NULL
			WHERE id = ? AND (digest IS NOT NULL OR error <> '' OR command IS NOT NULL)`, call)
		if err != nil {
			return 0, 0, err
		}
		calls += n
	}
	return changes, calls, nil
}

// repeating adds the calls whose command line or error repeats a content.
func (f Forgetting) repeating(tx *schema.Tx, calls map[int64]bool) error {
	if f.Repeats == nil {
		return nil
	}
	rows := tx.Query(`SELECT id, ifnull(command, ''), error FROM call WHERE command IS NOT NULL OR error <> ''`)
	for rows.Next() {
		if f.Repeats(rows.Text(1)) || f.Repeats(rows.Text(2)) {
			calls[rows.Int(0)] = true
		}
	}
	return rows.Err()
}

// sums returns the sums that are to go: the given ones, and those that the rows of the inodes have.
func (f Forgetting) sums(tx *schema.Tx, mine map[node.Ino]bool) (map[chunk.Sum]bool, error) {
	gone := make(map[chunk.Sum]bool)
	for _, sum := range f.Sums {
		gone[sum] = true
	}
	had, err := SumsOf(tx, mine)
	for _, sums := range had {
		maps.Copy(gone, sums)
	}
	for _, sum := range append(slices.Clone(f.Keep), chunk.SumOf(nil)) {
		delete(gone, sum)
	}
	return gone, err
}

// SumsOf returns the sums of the contents that some inodes had, as far as the record has them; that of no bytes is not among
// them.
func SumsOf(tx *schema.Tx, inos map[node.Ino]bool) (map[node.Ino]map[chunk.Sum]bool, error) {
	had := make(map[node.Ino]map[chunk.Sum]bool)
	if len(inos) == 0 {
		return had, nil
	}
	empty := chunk.SumOf(nil)
	add := func(ino node.Ino, sum *chunk.Sum) {
		if !inos[ino] || sum == nil || *sum == empty {
			return
		}
		if had[ino] == nil {
			had[ino] = make(map[chunk.Sum]bool)
		}
		had[ino][*sum] = true
	}

	rows := tx.Query(`SELECT c.ino, iif(typeof(c.before) = 'blob', c.before, NULL), c.after, x.displaced FROM change c LEFT JOIN other x ON x.seq = c.seq
		WHERE c.ino IS NOT NULL`)
	for rows.Next() {
		ino := node.Ino(rows.Int(0))
		add(ino, scanSum(rows, 2))
		if !rows.Null(3) {
			ino = node.Ino(rows.Int(3)) // what the name showed before was that file's
		}
		add(ino, scanSum(rows, 1))
	}
	return had, rows.Err()
}

// A forgotten is a row of the table change, and which of its columns go.
type forgotten struct {
	seq                 int64
	before, after, mine bool
}

// find returns the rows that have something to forget, and the calls that changed the inodes.
func (f Forgetting) find(tx *schema.Tx, mine map[node.Ino]bool, gone map[chunk.Sum]bool) (found []forgotten, calls map[int64]bool, err error) {
	calls = make(map[int64]bool)
	lost := make(map[int64]bool) // rows without their after
	paths := make(map[string]bool)
	for _, path := range f.Paths {
		paths[path] = true
	}
	rows := tx.Query(`SELECT c.seq, c.ino, c.path, c.call, iif(typeof(c.before) = 'integer', c.before, NULL), iif(typeof(c.before) = 'blob', c.before, NULL), c.after
		FROM change c ORDER BY c.seq`)
	defer rows.Close()
	for rows.Next() {
		row := forgotten{seq: rows.Int(0)}
		row.mine = mine[node.Ino(rows.Int(1))] || rows.Null(1) && paths[rows.Text(2)]
		if row.mine && !rows.Null(3) {
			calls[rows.Int(3)] = true
		}

		before, after := scanSum(rows, 5), scanSum(rows, 6)
		row.before = before != nil && gone[*before] || !rows.Null(4) && lost[rows.Int(4)]
		if row.after = after != nil && gone[*after]; row.after {
			lost[row.seq] = true
		}
		if row.before || row.after || row.mine {
			found = append(found, row)
		}
	}
	return found, calls, rows.Err()
}

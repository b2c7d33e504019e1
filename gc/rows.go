package gc

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"vfsdb/history"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// A RowReaper deletes the rows of entries and inodes that no tree shows any more: their life covers no retained epoch.
// Retained are the epochs of snapshots, of the forks of the branch, and its head. A dropped branch is deleted itself
// when no row of it is left. Rows are found in read transactions, and checked again in the short one that deletes them.
type RowReaper struct {
	store *tree.Store
	at    rowPlace
	dry   bool

	// Branches counts the dropped branches that have no rows left.
	Branches int
}

// A rowPlace is how far a RowReaper has come.
type rowPlace struct {
	branch int64 // 0: before the first
	table  rowTable
	row    rowKey // the row seen last
}

// A rowTable is one pass over the rows of a branch.
type rowTable int

const (
	inodeRows rowTable = iota
	direntRows
	allRows
)

// A rowKey identifies a row of a branch: of an inode, or of a name in the directory ino.
type rowKey struct {
	ino        int64
	name       string
	died, born int64
}

// compare orders rows as the scans do: by their deaths in a branch with a name, else by their keys.
func (k rowKey) compare(o rowKey, named bool) int {
	key := cmp.Or(cmp.Compare(k.ino, o.ino), strings.Compare(k.name, o.name))
	if named {
		return cmp.Or(cmp.Compare(k.died, o.died), key)
	}
	return cmp.Or(key, cmp.Compare(k.died, o.died))
}

// NewRowReaper returns a reaper that has not begun.
func NewRowReaper(fsys *tree.Tree) *RowReaper { return &RowReaper{store: fsys.Store()} }

// NewRowCounter returns a reaper that counts the rows that it would delete, and deletes none.
func NewRowCounter(fsys *tree.Tree) *RowReaper { return &RowReaper{store: fsys.Store(), dry: true} }

// rowsPerView is how many rows one read transaction reads.
const rowsPerView = 4096

// Step looks for rows that may go, and deletes up to limit of them. It is durable as soon as a later commit is.
func (r *RowReaper) Step(ctx context.Context, limit int) (step ReapStep, err error) {
	find := rowSearch{at: r.at, limit: limit}
	if err := r.store.DB().View(ctx, find.run); err != nil {
		return ReapStep{}, err
	}
	if len(find.found) == 0 && !find.empty {
		r.at = find.at
		return ReapStep{Done: find.done}, nil
	}

	if r.dry {
		r.at = find.at
		if find.empty {
			r.Branches++
		}
		return ReapStep{Count: len(find.found), Done: find.done}, nil
	}

	var began time.Time
	gone := false
	err = r.store.DB().Stage(ctx, func(db *schema.Tx) (err error) {
		began = time.Now()
		db.SetMemo(nil) // it may hold a tree of the past that is no longer kept
		if find.empty {
			gone, err = dropBranchRow(db, find.at.branch)
			return err
		}
		step.Count, err = dropRows(db, find.at.branch, find.at.table, find.found)
		return err
	})
	if err != nil {
		return ReapStep{}, err
	}

	if gone {
		r.Branches++
	}
	r.at = find.at
	step.Held = time.Since(began)
	return step, nil
}

// A rowSearch looks for rows that may go, in one read transaction.
type rowSearch struct {
	at    rowPlace
	limit int
	found []rowKey // in the branch and table of at
	empty bool     // the branch of at may go
	done  bool
}

// run fills found, or sets empty.
func (s *rowSearch) run(db *schema.Tx) error {
	for seen := 0; seen < rowsPerView; {
		named, err := s.branch(db)
		if err != nil || s.done {
			return err
		}
		kept, err := readRetention(db, s.at.branch)
		if err != nil {
			return err
		}

		for s.at.table < allRows {
			n, err := s.scan(db, kept, named, rowsPerView-seen)
			if err != nil {
				return err
			}
			if seen += n; seen >= rowsPerView || len(s.found) > 0 {
				return nil // the next step goes on behind the last row
			}
			s.at.table++
			s.at.row = rowKey{}
		}

		seen++
		id := s.at.branch
		s.at = rowPlace{branch: id, table: allRows + 1}
		if s.empty = !named && len(kept.epochs) == 0; s.empty {
			return nil
		}
	}
	return nil
}

// branch goes on to the next branch if the present one is done, and reports whether it has a name.
func (s *rowSearch) branch(db *schema.Tx) (named bool, err error) {
	text := `SELECT id, name IS NOT NULL FROM branch WHERE id >= ? ORDER BY id LIMIT 1`
	if s.at.table > allRows {
		text = `SELECT id, name IS NOT NULL FROM branch WHERE id > ? ORDER BY id LIMIT 1`
	}

	rows := db.Query(text, s.at.branch)
	defer rows.Close()
	if !rows.Next() {
		s.done = true
		return false, rows.Err()
	}
	if rows.Int(0) < s.at.branch {
		return false, schema.Corrupt("rows of table branch are out of order: %d comes after %d", rows.Int(0), s.at.branch)
	}
	if id := rows.Int(0); id != s.at.branch || s.at.table > allRows {
		s.at = rowPlace{branch: id}
	}
	return rows.Int(1) == 1, nil
}

// In a branch with a name only dead rows can go, and there is an index of those. In one without, any row can.
var rowScans = map[bool]map[rowTable]string{
	true: {
		inodeRows: `SELECT ino, '', died, born FROM inode
			WHERE branch = ?1 AND (died, ino) > (?4, ?2) AND died < 9223372036854775807 ORDER BY died, ino LIMIT ?5`,
		direntRows: `SELECT parent, name, died, born FROM dirent
			WHERE branch = ?1 AND (died, parent, name) > (?4, ?2, ?3) AND died < 9223372036854775807 ORDER BY died, parent, name LIMIT ?5`,
	},
	false: {
		inodeRows: `SELECT ino, '', died, born FROM inode
			WHERE branch = ?1 AND (ino, died) > (?2, ?4) ORDER BY ino, died LIMIT ?5`,
		direntRows: `SELECT parent, name, died, born FROM dirent
			WHERE branch = ?1 AND (parent, name, died) > (?2, ?3, ?4) ORDER BY parent, name, died LIMIT ?5`,
	},
}

// scan reads up to limit rows of one table, and returns how many it read.
func (s *rowSearch) scan(db *schema.Tx, kept retention, named bool, limit int) (seen int, err error) {
	last := s.at.row
	rows := db.Query(rowScans[named][s.at.table], s.at.branch, last.ino, last.name, last.died, limit)
	defer rows.Close()

	for len(s.found) < s.limit && rows.Next() {
		seen++
		before := s.at.row
		s.at.row = rowKey{ino: rows.Int(0), name: rows.Text(1), died: rows.Int(2), born: rows.Int(3)}
		if s.at.row.compare(before, named) <= 0 {
			return seen, schema.Corrupt("rows of branch %d are out of order at number %d", s.at.branch, s.at.row.ino)
		}
		if !kept.shows(s.at.row.born, s.at.row.died) {
			s.found = append(s.found, s.at.row)
		}
	}
	return seen, rows.Err()
}

// A retention is the set of epochs of a branch that can still be read.
type retention struct {
	head   bool
	epochs []int64 // ascending
}

// readRetention reads the retained epochs of a branch.
func readRetention(db *schema.Tx, branch int64) (kept retention, err error) {
	if _, kept.head, err = history.ReadBranch(db, branch); err != nil {
		return kept, err
	}
	rows := db.Query(`SELECT epoch FROM snapshot WHERE branch = ?1
		UNION SELECT epoch FROM lineage WHERE ancestor = ?1 AND level > 0
		UNION SELECT cap FROM merge WHERE source = ?1 AND branch <> source
		UNION SELECT id FROM pin WHERE kind = 5 AND branch = ?1`, branch)
	for rows.Next() {
		kept.epochs = append(kept.epochs, rows.Int(0))
	}
	slices.Sort(kept.epochs)
	return kept, rows.Err()
}

// shows reports whether a retained epoch shows a row that lives over [born, died).
func (k retention) shows(born, died int64) bool {
	return died == schema.Forever && k.head || k.showsPast(born, died)
}

// showsPast is shows without the head.
func (k retention) showsPast(born, died int64) bool {
	i := sort.Search(len(k.epochs), func(i int) bool { return k.epochs[i] >= born })
	return i < len(k.epochs) && k.epochs[i] < died
}

// dropRows deletes those of the rows that may still go.
func dropRows(db *schema.Tx, branch int64, table rowTable, found []rowKey) (int, error) {
	kept, err := readRetention(db, branch)
	if err != nil {
		return 0, err
	}

	count, last := 0, int64(0)
	for _, row := range found {
		if kept.shows(row.born, row.died) {
			continue
		}
		last = max(last, row.died)
		var n int64
		if table == inodeRows {
			n, err = tree.DeleteInode(db, branch, node.Ino(row.ino), row.died, row.born)
		} else {
			n, err = tree.DeleteDirent(db, branch, node.Name{Dir: node.Ino(row.ino), Base: row.name}, row.died, row.born)
		}
		if err != nil {
			return 0, err
		}
		count += int(n)
	}
	if count == 0 {
		return 0, nil
	}
	return count, history.AddReaped(db, branch, last)
}

// dropBranchRow deletes the row of a branch that has no name, that nothing descends from, and that has no other rows.
func dropBranchRow(db *schema.Tx, branch int64) (bool, error) {
	kept, err := readRetention(db, branch)
	if err != nil || kept.head || len(kept.epochs) > 0 {
		return false, err
	}
	left, _, err := db.Int(`SELECT EXISTS (SELECT 1 FROM inode WHERE branch = ?1) OR EXISTS (SELECT 1 FROM dirent WHERE branch = ?1)`, branch)
	if err != nil || left == 1 {
		return false, err
	}
	memory.Carry(db) // no tree shows the branch
	err = history.DeleteBranch(db, branch)
	return err == nil, err
}

package gc

import (
	"context"
	"errors"

	"vfsdb/history"
	"vfsdb/hold"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// A ReapForecast counts what an OrphanReaper and a RowReaper would reap, one after the other. It is a guess if others
// write meanwhile.
type ReapForecast struct {
	Orphans, Rows, Branches int64

	fsys  *tree.Tree
	open  map[memory.BranchIno]bool
	names map[memory.BranchIno]int64 // how many names an inode would lose
	gone  map[memory.BranchIno]bool
	kept  map[int64]retention
	epoch map[int64]int64
}

// ForecastReap counts what reapers would reap. It only reads.
func ForecastReap(ctx context.Context, fsys *tree.Tree) (*ReapForecast, error) {
	f := &ReapForecast{
		fsys: fsys, names: make(map[memory.BranchIno]int64), gone: make(map[memory.BranchIno]bool), open: make(map[memory.BranchIno]bool),
		kept: make(map[int64]retention), epoch: make(map[int64]int64),
	}
	if err := f.branches(ctx); err != nil {
		return nil, err
	}

	// Each orphan, with everything below it.
	var order schema.Ascent
	for after := int64(0); ; {
		var top memory.BranchIno
		err := fsys.Store().DB().View(ctx, func(db *schema.Tx) error {
			rows := db.Query(`SELECT seq, branch, ino FROM orphan WHERE seq > ? ORDER BY seq LIMIT 1`, after)
			if !rows.Next() {
				return rows.Close()
			}
			after, top = rows.Int(0), memory.BranchIno{Branch: rows.Int(1), Ino: node.Ino(rows.Int(2))}
			return errors.Join(order.To("orphan", after), rows.Close())
		})
		if err != nil {
			return nil, err
		}
		if top.Ino == 0 {
			break
		}
		if err := f.orphan(ctx, top); err != nil {
			return nil, err
		}
	}

	// Then the rows that no epoch shows.
	rows := NewRowCounter(fsys)
	for done := false; !done; {
		step, err := rows.Step(ctx, rowsPerView)
		if err != nil {
			return nil, err
		}
		f.Rows += int64(step.Count)
		done = step.Done
	}
	f.Branches = int64(rows.Branches)
	return f, nil
}

// branches reads the open inodes, and the epochs that each branch retains.
func (f *ReapForecast) branches(ctx context.Context) error {
	return f.fsys.Store().DB().View(ctx, func(db *schema.Tx) (err error) {
		pins := db.Query(`SELECT branch, id FROM pin WHERE kind = ?`, hold.Inode)
		for pins.Next() {
			f.open[memory.BranchIno{Branch: pins.Int(0), Ino: node.Ino(pins.Int(1))}] = true
		}
		if err := pins.Err(); err != nil {
			return err
		}

		rows := db.Query(`SELECT id, epoch FROM branch`)
		defer rows.Close()
		for rows.Next() {
			id := rows.Int(0)
			f.epoch[id] = rows.Int(1)
			if f.kept[id], err = readRetention(db, id); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// orphan counts one orphan, and in pages everything below it.
func (f *ReapForecast) orphan(ctx context.Context, top memory.BranchIno) error {
	if !f.kept[top.Branch].head || f.gone[top] || f.open[top] {
		return nil
	}

	// An orphan that got a name back stays.
	var head *tree.Tree
	dirs := []reapDir{{dir: top.Ino}}
	err := f.fsys.Store().DB().View(ctx, func(db *schema.Tx) (err error) {
		if head, err = f.fsys.Store().Stand(db, history.Moment{Branch: top.Branch, Epoch: schema.Head}); err != nil {
			return err
		}
		tx, err := head.Begin(db)
		if err != nil {
			return err
		}
		n, err := tx.Node(top.Ino)
		if err != nil || n == nil || n.Nlink > 0 {
			dirs = nil
			return err
		}
		if !n.IsDir() {
			dirs = nil
		}
		f.inode(top.Branch, n)
		return nil
	})

	for err == nil && len(dirs) > 0 {
		err = head.View(ctx, func(tx *tree.Tx) error {
			last := len(dirs) - 1
			here := dirs[last]
			page, err := tx.Page(here.dir, here.after, tree.PageSize)
			if err != nil {
				return err
			}

			// Go on in this directory behind the page, or in the one above.
			if len(page) < tree.PageSize {
				dirs = dirs[:last]
			} else {
				dirs[last].after = page[len(page)-1].Name
			}

			for _, e := range page {
				if below, err := f.entry(tx, here.dir, e); err != nil {
					return err
				} else if below {
					dirs = append(dirs, reapDir{dir: e.Ino})
				}
			}
			return nil
		})
	}
	return err
}

// entry counts one name and its inode, and reports whether that is a directory to go into.
func (f *ReapForecast) entry(tx *tree.Tx, dir node.Ino, e node.Entry) (below bool, err error) {
	d, err := tx.Lookup(dir, e.Name)
	if err != nil {
		return false, err
	}
	n, err := tx.NodeOf(dir, e)
	if err != nil {
		return false, err
	}

	branch := tx.Tree().Moment().Branch
	f.row(branch, d.Level, d.Born)
	id := memory.BranchIno{Branch: branch, Ino: n.Ino}
	f.names[id]++
	if !n.IsDir() && (f.names[id] < n.Nlink || f.open[id]) || f.gone[id] {
		return false, nil
	}
	f.inode(branch, n)
	return n.IsDir(), nil
}

// inode counts an inode that would go.
func (f *ReapForecast) inode(branch int64, n *node.Node) {
	f.gone[memory.BranchIno{Branch: branch, Ino: n.Ino}] = true
	f.Orphans++
	f.row(branch, n.Level, n.Born)
}

// row counts a row that would die now, if no epoch shows it then. A row that was born in this epoch is simply deleted.
func (f *ReapForecast) row(branch int64, level int, born int64) {
	if epoch := f.epoch[branch]; level == 0 && born < epoch && !f.kept[branch].showsPast(born, epoch) {
		f.Rows++
	}
}

// Keeps reports whether a row would still be there.
func (f *ReapForecast) Keeps(row ContentRow) bool {
	kept, ok := f.kept[row.Branch]
	switch {
	case !ok: // a branch that was made since
		return true
	case row.Died == schema.Forever && f.gone[memory.BranchIno{Branch: row.Branch, Ino: row.Ino}]:
		return kept.showsPast(row.Born, f.epoch[row.Branch])
	}
	return kept.shows(row.Born, row.Died)
}

package tree

import (
	"fmt"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree/level"
)

// Lookup returns what the tree shows under a name in a directory.
func (tx *Tx) Lookup(dir node.Ino, name string) (node.Dirent, error) {
	key := node.Name{Dir: dir, Base: name}
	if d, ok := tx.mem.Name(key); ok {
		return d, nil
	}
	d, err := tx.loadDirent(key)
	if err != nil {
		return d, fmt.Errorf("look up a name in directory %d: %w", dir, err)
	}
	tx.mem.PutName(key, d)
	return d, nil
}

func (tx *Tx) loadDirent(key node.Name) (node.Dirent, error) {
	if len(tx.tree.levels) == 1 {
		d, _, err := tx.nearestDirent(ownLevel, key)
		return d, err
	}
	if inherited, known := tx.mem.InheritedName(key); known {
		d, found, err := tx.nearestDirent(ownLevel, key)
		if !found {
			d = inherited
		}
		return d, err
	}

	var buf [history.MaxDepth]int
	d, found, err := tx.nearestDirent(tx.tree.levelsOfDir(append(buf[:0], 0), key.Dir), key)
	if err == nil && (!found || d.Level > 0) {
		tx.cacheInheritedName(key, d)
	}
	return d, err
}

// inheritedDirent looks a name up in the levels above the first.
func (tx *Tx) inheritedDirent(key node.Name) (node.Dirent, error) {
	if d, known := tx.mem.InheritedName(key); known {
		return d, nil
	}
	d, _, err := tx.nearestDirent(tx.tree.levelsOfDir(nil, key.Dir), key)
	if err == nil {
		tx.cacheInheritedName(key, d)
	}
	return d, err
}

// cacheInheritedName caches what the levels above the first show, for good. So they must be committed.
func (tx *Tx) cacheInheritedName(key node.Name, d node.Dirent) {
	if tx.tree.settled {
		tx.mem.PutInheritedName(key, d)
	}
}

var nearestDirents = level.NewNearest("ino, kind, born", "dirent", "parent = ?1 AND name = ?2", 2)

// nearestDirent reads the row of the nearest of some levels that has one, whiteouts included.
func (tx *Tx) nearestDirent(levels []int, key node.Name) (d node.Dirent, found bool, err error) {
	rows, number, err := nearestDirents.Find(tx.db, tx.tree.levels, levels, int64(key.Dir), key.Base)
	if rows == nil {
		return node.Dirent{Level: node.Fresh}, false, err
	}
	d = node.Dirent{Ino: node.Ino(rows.Int(0)), Kind: uint8(rows.Int(1)), Level: number, Born: rows.Int(2)}
	return d, true, rows.Close()
}

// levelsOfDir appends the levels above the first that may have rows of a directory.
func (t *Tree) levelsOfDir(list []int, dir node.Ino) []int {
	for i, filter := range t.filters {
		if i > 0 && filter.MayHaveDir(dir) {
			list = append(list, i)
		}
	}
	return list
}

// putDirent makes a name show an inode, by the rule of putInode. ino 0 writes a whiteout.
func (tx *Tx) putDirent(dir node.Ino, name string, ino node.Ino, kind uint8) error {
	d, err := tx.Lookup(dir, name)
	if err != nil {
		return err
	}

	branch := tx.tree.at.Branch
	tx.mem.InvalidateName(tx.db, node.Name{Dir: dir, Base: name})
	tx.mem.Own.Rename(node.Name{Dir: dir, Base: name}, d.Ino, node.Dirent{Ino: ino, Kind: kind, Level: 0, Born: tx.epoch()})

	// A row of this epoch is changed in place. An older one ends, and a new one begins.
	if d.Level == 0 && d.Born == tx.epoch() {
		found, err := tx.db.Exec(`UPDATE dirent SET ino = ?4, kind = ?5 WHERE branch = ?1 AND parent = ?2 AND name = ?3 AND died = 9223372036854775807`,
			branch, int64(dir), name, orNull(int64(ino)), int64(kind))
		return foundRow(found, err, "dirent", int64(dir))
	}
	if d.Level == 0 {
		if err := endDirent(tx.db, branch, dir, name, tx.epoch()); err != nil {
			return err
		}
	}
	_, err = tx.db.Exec(`INSERT INTO dirent (branch, parent, name, died, born, ino, kind) VALUES (?, ?, ?, 9223372036854775807, ?, ?, ?)`,
		branch, int64(dir), name, tx.epoch(), orNull(int64(ino)), int64(kind))
	return err
}

// DropDirent removes a name: by a whiteout if an ancestor still shows it, else by ending its row.
func (tx *Tx) DropDirent(dir node.Ino, name string) error {
	key := node.Name{Dir: dir, Base: name}
	if len(tx.tree.levels) > 1 {
		shown, err := tx.inheritedDirent(key)
		if err != nil {
			return err
		}
		if shown.Ino != 0 {
			return tx.putDirent(dir, name, 0, 0)
		}
	}

	d, err := tx.Lookup(dir, name)
	if err != nil {
		return err
	}
	tx.mem.InvalidateName(tx.db, key)
	tx.mem.Own.Rename(key, d.Ino, node.Dirent{Level: node.Fresh})

	if d.Born == tx.epoch() {
		found, err := tx.db.Exec(`DELETE FROM dirent WHERE branch = ? AND parent = ? AND name = ? AND died = 9223372036854775807`,
			tx.tree.at.Branch, int64(dir), name)
		return foundRow(found, err, "dirent", int64(dir))
	}
	return endDirent(tx.db, tx.tree.at.Branch, dir, name, tx.epoch())
}

func endDirent(db *schema.Tx, branch int64, dir node.Ino, name string, epoch int64) error {
	found, err := db.Exec(`UPDATE dirent SET died = ? WHERE branch = ? AND parent = ? AND name = ? AND died = 9223372036854775807`,
		epoch, branch, int64(dir), name)
	return foundRow(found, err, "dirent", int64(dir))
}

// Page returns up to limit entries of a directory in order of their names, beginning after the name after. A damaged tree
// of pages may have them out of order. They are returned all the same, but the last name of a full page must come after
// the last one of the page before, or a listing page by page would not end.
func (tx *Tx) Page(dir node.Ino, after string, limit int) ([]node.Entry, error) {
	page, err := tx.pageBehind(dir, after, limit)
	if last := len(page) - 1; err == nil && last >= 0 && last+1 == limit && page[last].Name <= after {
		return nil, errOutOfOrder(dir, page[last].Name, after)
	}
	return page, err
}

func errOutOfOrder(dir node.Ino, name, after string) error {
	return schema.Corrupt("entries of directory %d are out of order: %q comes after %q", dir, name, after)
}

func (tx *Tx) pageBehind(dir node.Ino, after string, limit int) ([]node.Entry, error) {
	levels := tx.tree.levels[:1:1]
	for _, i := range tx.tree.levelsOfDir(nil, dir) {
		levels = append(levels, tx.tree.levels[i])
	}
	if len(levels) == 1 {
		return tx.pageOfOne(levels[0], dir, after, limit)
	}
	return tx.pageOfMany(levels, dir, after, limit)
}

const pageSQL = `SELECT name, ino, kind, parent FROM dirent WHERE branch = ?1 AND parent = ?2 AND name > ?3 AND died > ?4 AND born <= ?4 ORDER BY name`

func (tx *Tx) pageOfOne(l history.Level, dir node.Ino, after string, limit int) ([]node.Entry, error) {
	var page []node.Entry
	for {
		rows := tx.db.Query(pageSQL, l.Branch, int64(dir), after, l.Cap)
		got, before := 0, after
		for got < limit && rows.Next() {
			got++
			e, err := scanListed(rows, dir)
			if err != nil {
				rows.Close()
				return nil, err
			}
			after = e.Name
			if e.Ino != 0 && len(page) < limit {
				page = append(page, e)
			}
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}

		// Whiteouts have taken places of entries, so there may be more.
		if got < limit || len(page) == limit {
			return page, nil
		}
		if after <= before {
			return nil, errOutOfOrder(dir, after, before)
		}
	}
}

// scanListed reads an entry, which must be one that a directory can have: a name such as .. would lead elsewhere.
func scanListed(rows *schema.Rows, dir node.Ino) (node.Entry, error) {
	kind, parent := rows.Int(2), rows.Int(3)
	e := node.Entry{Name: rows.Text(0), Ino: node.Ino(rows.Int(1)), Kind: uint8(kind)}
	if parent != int64(dir) {
		return e, schema.Corrupt("directory %d lists an entry of directory %d", dir, parent)
	}
	if what := node.EntryFault(e.Name, e.Ino != 0, int64(e.Ino), kind); what != "" {
		return e, schema.Corrupt("directory %d: %s", dir, what)
	}
	return e, nil
}

// pageOfMany merges the levels by name, the nearest winning, whiteouts hiding what is deeper.
func (tx *Tx) pageOfMany(levels []history.Level, dir node.Ino, after string, limit int) ([]node.Entry, error) {
	cursors := make([]*schema.Rows, len(levels))
	heads := make([]node.Entry, len(levels))
	defer func() {
		for _, c := range cursors {
			if c != nil {
				c.Close()
			}
		}
	}()

	// step moves the cursor of a level to its next entry, and drops it at the end.
	step := func(i int) (err error) {
		if cursors[i].Next() {
			heads[i], err = scanListed(cursors[i], dir)
			return err
		}
		err = cursors[i].Err()
		cursors[i] = nil
		return err
	}

	for i, l := range levels {
		cursors[i] = tx.db.Query(pageSQL, l.Branch, int64(dir), after, l.Cap)
		if err := step(i); err != nil {
			return nil, err
		}
	}

	// Each round takes the lowest name, from the nearest level that has it, and steps over it in all levels.
	var page []node.Entry
	for len(page) < limit {
		first := -1
		for i := range levels {
			if cursors[i] != nil && (first < 0 || heads[i].Name < heads[first].Name) {
				first = i
			}
		}
		if first < 0 {
			break
		}

		got := heads[first]
		for i := first; i < len(levels); i++ {
			if cursors[i] != nil && heads[i].Name == got.Name {
				if err := step(i); err != nil {
					return nil, err
				}
			}
		}
		if got.Ino != 0 {
			page = append(page, got)
		}
	}
	return page, nil
}

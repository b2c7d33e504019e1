package vfs

import (
	"fmt"

	"vfsdb/schema"
)

// A dirent is what a directory says about a name: the inode, or, with ino 0, that there is none.
// level and born tell which row said so; fresh if no row did.
type dirent struct {
	ino   Ino
	kind  uint8
	level int
	born  int64
}

// lookup returns what the tree shows under a name in a directory.
func (tx *Tx) lookup(dir Ino, name string) (dirent, error) {
	key := nameKey{dir, name}
	if d, ok := tx.getName(key); ok {
		return d, nil
	}
	d, err := tx.loadDirent(key)
	if err != nil {
		return d, fmt.Errorf("look up a name in directory %d: %w", dir, err)
	}
	tx.putName(key, d)
	return d, nil
}

func (tx *Tx) loadDirent(key nameKey) (dirent, error) {
	if len(tx.fsys.levels) == 1 {
		d, _, err := tx.nearestDirent(ownLevel, key)
		return d, err
	}
	if inherited, known := tx.getInheritedName(key); known {
		d, found, err := tx.nearestDirent(ownLevel, key)
		if !found {
			d = inherited
		}
		return d, err
	}

	var buf [maxDepth]int
	d, found, err := tx.nearestDirent(tx.fsys.levelsOfDir(append(buf[:0], 0), key.dir), key)
	if err == nil && (!found || d.level > 0) {
		tx.cacheInheritedName(key, d)
	}
	return d, err
}

// inheritedDirent looks a name up in the levels above the first.
func (tx *Tx) inheritedDirent(key nameKey) (dirent, error) {
	if d, known := tx.getInheritedName(key); known {
		return d, nil
	}
	d, _, err := tx.nearestDirent(tx.fsys.levelsOfDir(nil, key.dir), key)
	if err == nil {
		tx.cacheInheritedName(key, d)
	}
	return d, err
}

// cacheInheritedName caches what the levels above the first show, for good. So they must be committed.
func (tx *Tx) cacheInheritedName(key nameKey, d dirent) {
	if tx.fsys.settled {
		tx.putInheritedName(key, d)
	}
}

var nearestDirents = newNearest("ino, kind, born", "dirent", "parent = ?1 AND name = ?2", 2)

// nearestDirent reads the row of the nearest of some levels that has one, whiteouts included.
func (tx *Tx) nearestDirent(levels []int, key nameKey) (d dirent, found bool, err error) {
	rows, level, err := nearestDirents.find(tx.db, tx.fsys.levels, levels, int64(key.dir), key.name)
	if rows == nil {
		return dirent{level: fresh}, false, err
	}
	d = dirent{ino: Ino(rows.Int(0)), kind: uint8(rows.Int(1)), level: level, born: rows.Int(2)}
	return d, true, rows.Close()
}

// levelsOfDir appends the levels above the first that may have rows of a directory.
func (fsys *FS) levelsOfDir(list []int, dir Ino) []int {
	for i, filter := range fsys.filters {
		if i > 0 && filter.mayHaveDir(dir) {
			list = append(list, i)
		}
	}
	return list
}

// putDirent makes a name show an inode, by the rule of putInode. ino 0 writes a whiteout.
func (tx *Tx) putDirent(dir Ino, name string, ino Ino, kind uint8) error {
	d, err := tx.lookup(dir, name)
	if err != nil {
		return err
	}
	branch := tx.fsys.at.Branch
	tx.invalidateName(nameKey{dir, name})
	tx.own.names[nameKey{dir, name}] = dirent{ino: ino, kind: kind, level: 0, born: tx.epoch()}
	if d.level == 0 && d.born == tx.epoch() {
		found, err := tx.db.Exec(`UPDATE dirent SET ino = ?4, kind = ?5 WHERE branch = ?1 AND parent = ?2 AND name = ?3 AND died = 9223372036854775807`,
			branch, int64(dir), name, orNull(int64(ino)), int64(kind))
		return foundRow(found, err, "dirent", int64(dir))
	}
	if d.level == 0 {
		if err := endDirent(tx.db, branch, dir, name, tx.epoch()); err != nil {
			return err
		}
	}
	_, err = tx.db.Exec(`INSERT INTO dirent (branch, parent, name, died, born, ino, kind) VALUES (?, ?, ?, 9223372036854775807, ?, ?, ?)`,
		branch, int64(dir), name, tx.epoch(), orNull(int64(ino)), int64(kind))
	return err
}

// dropDirent removes a name: by a whiteout if an ancestor still shows it, else by ending its row.
func (tx *Tx) dropDirent(dir Ino, name string) error {
	key := nameKey{dir, name}
	if len(tx.fsys.levels) > 1 {
		shown, err := tx.inheritedDirent(key)
		if err != nil {
			return err
		}
		if shown.ino != 0 {
			return tx.putDirent(dir, name, 0, 0)
		}
	}
	d, err := tx.lookup(dir, name)
	if err != nil {
		return err
	}
	tx.invalidateName(key)
	tx.own.names[key] = dirent{level: fresh}
	if d.born == tx.epoch() {
		found, err := tx.db.Exec(`DELETE FROM dirent WHERE branch = ? AND parent = ? AND name = ? AND died = 9223372036854775807`,
			tx.fsys.at.Branch, int64(dir), name)
		return foundRow(found, err, "dirent", int64(dir))
	}
	return endDirent(tx.db, tx.fsys.at.Branch, dir, name, tx.epoch())
}

func endDirent(db *schema.Tx, branch int64, dir Ino, name string, epoch int64) error {
	found, err := db.Exec(`UPDATE dirent SET died = ? WHERE branch = ? AND parent = ? AND name = ? AND died = 9223372036854775807`,
		epoch, branch, int64(dir), name)
	return foundRow(found, err, "dirent", int64(dir))
}

// A listed is one entry of a directory page.
type listed struct {
	name string
	ino  Ino
	kind uint8
}

// page returns up to limit entries of a directory in order of their names, beginning after the name after. Where a
// damaged tree of pages has them out of order, what there is comes all the same; but the last name of a page that is full
// comes after that of the one before, or who lists them page by page would go round for good.
func (tx *Tx) page(dir Ino, after string, limit int) ([]listed, error) {
	page, err := tx.pageBehind(dir, after, limit)
	if last := len(page) - 1; err == nil && last >= 0 && last+1 == limit && page[last].name <= after {
		return nil, errOutOfOrder(dir, page[last].name, after)
	}
	return page, err
}

func errOutOfOrder(dir Ino, name, after string) error {
	return corrupt("entries of directory %d are out of order: %q comes after %q", dir, name, after)
}

func (tx *Tx) pageBehind(dir Ino, after string, limit int) ([]listed, error) {
	levels := tx.fsys.levels[:1:1]
	for _, i := range tx.fsys.levelsOfDir(nil, dir) {
		levels = append(levels, tx.fsys.levels[i])
	}
	if len(levels) == 1 {
		return tx.pageOfOne(levels[0], dir, after, limit)
	}
	return tx.pageOfMany(levels, dir, after, limit)
}

const pageSQL = `SELECT name, ino, kind, parent FROM dirent WHERE branch = ?1 AND parent = ?2 AND name > ?3 AND died > ?4 AND born <= ?4 ORDER BY name`

func (tx *Tx) pageOfOne(l level, dir Ino, after string, limit int) ([]listed, error) {
	var page []listed
	for {
		rows := tx.db.Query(pageSQL, l.branch, int64(dir), after, l.cap)
		got, before := 0, after
		for got < limit && rows.Next() {
			got++
			e, err := scanListed(rows, dir)
			if err != nil {
				rows.Close()
				return nil, err
			}
			after = e.name
			if e.ino != 0 && len(page) < limit {
				page = append(page, e)
			}
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
		if got < limit || len(page) == limit {
			return page, nil
		}
		if after <= before {
			return nil, errOutOfOrder(dir, after, before)
		}
	}
}

// scanListed reads an entry, which must be one that a directory can have: a name such as .. would lead elsewhere.
func scanListed(rows *schema.Rows, dir Ino) (listed, error) {
	kind, parent := rows.Int(2), rows.Int(3)
	e := listed{rows.Text(0), Ino(rows.Int(1)), uint8(kind)}
	if parent != int64(dir) {
		return e, corrupt("directory %d lists an entry of directory %d", dir, parent)
	}
	if what := entryFault(e.name, e.ino != 0, int64(e.ino), kind); what != "" {
		return e, corrupt("directory %d: %s", dir, what)
	}
	return e, nil
}

// pageOfMany merges the levels by name, the nearest winning, whiteouts hiding what is deeper.
func (tx *Tx) pageOfMany(levels []level, dir Ino, after string, limit int) ([]listed, error) {
	cursors := make([]*schema.Rows, len(levels))
	heads := make([]listed, len(levels))
	defer func() {
		for _, c := range cursors {
			if c != nil {
				c.Close()
			}
		}
	}()
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
		cursors[i] = tx.db.Query(pageSQL, l.branch, int64(dir), after, l.cap)
		if err := step(i); err != nil {
			return nil, err
		}
	}
	var page []listed
	for len(page) < limit {
		first := -1
		for i := range levels {
			if cursors[i] != nil && (first < 0 || heads[i].name < heads[first].name) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		got := heads[first]
		for i := first; i < len(levels); i++ {
			if cursors[i] != nil && heads[i].name == got.name {
				if err := step(i); err != nil {
					return nil, err
				}
			}
		}
		if got.ino != 0 {
			page = append(page, got)
		}
	}
	return page, nil
}

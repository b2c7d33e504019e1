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
	if d, ok := tx.cache.names[key]; ok {
		return d, nil
	}
	if tx.cache.whole[dir] {
		return dirent{level: fresh}, nil
	}
	d, err := tx.loadDirent(key)
	if err != nil {
		return d, fmt.Errorf("look up a name in directory %d: %w", dir, err)
	}
	tx.cache.names[key] = d
	return d, nil
}

func (tx *Tx) loadDirent(key nameKey) (dirent, error) {
	levels := tx.fsys.levels
	past := tx.fsys.past
	shown, known := recall(past, past.names, key)
	if known || len(levels) == 1 {
		d, found, err := tx.direntAt(levels[0], 0, key)
		if err != nil || found || len(levels) == 1 {
			return d, err
		}
		return shown, nil
	}
	d, found, err := tx.direntThrough(key)
	if err == nil && (!found || d.level > 0) {
		keep(past, past.names, key, d)
	}
	return d, err
}

// direntThrough reads the row of the nearest level that has one, in one statement.
func (tx *Tx) direntThrough(key nameKey) (d dirent, found bool, err error) {
	rows := tx.db.Query(`SELECT d.ino, d.kind, d.born, l.level FROM lineage l CROSS JOIN dirent d ON d.branch = l.ancestor AND d.parent = ?3 AND d.name = ?4
		AND d.died > iif(l.level = 0, ?2, l.epoch) AND d.born <= iif(l.level = 0, ?2, l.epoch) WHERE l.branch = ?1 ORDER BY l.level LIMIT 1`,
		tx.fsys.at.Branch, tx.fsys.at.Epoch, int64(key.dir), key.name)
	defer rows.Close()
	if rows.Next() {
		return dirent{ino: Ino(rows.Int(0)), kind: uint8(rows.Int(1)), level: int(min(rows.Int(3), 1)), born: rows.Int(2)}, true, nil
	}
	return dirent{level: fresh}, false, rows.Err()
}

// pastDirent looks a name up in the levels above the first.
func (tx *Tx) pastDirent(key nameKey) (dirent, error) {
	past := tx.fsys.past
	return remember(past, past.names, key, func() (dirent, error) {
		levels, err := tx.dirLevels(key.dir)
		if err != nil {
			return dirent{}, err
		}
		for _, l := range levels {
			if d, found, err := tx.direntAt(l, 1, key); found || err != nil {
				return d, err
			}
		}
		return dirent{level: fresh}, nil
	})
}

// dirLevels returns the levels above the first that hold rows of a directory. With it, reading a directory costs the
// same however deep the lineage is.
func (tx *Tx) dirLevels(dir Ino) ([]level, error) {
	past := tx.fsys.past
	return remember(past, past.dirs, dir, func() ([]level, error) {
		var held []level
		rows := tx.db.Query(`SELECT l.level FROM lineage l WHERE l.branch = ?1 AND l.level > 0
			AND EXISTS (SELECT 1 FROM dirent d WHERE d.branch = l.ancestor AND d.parent = ?2) ORDER BY l.level`, tx.fsys.at.Branch, int64(dir))
		for rows.Next() {
			held = append(held, tx.fsys.levels[rows.Int(0)])
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		return held, nil
	})
}

// direntAt reads the row of one level, whiteouts included.
func (tx *Tx) direntAt(l level, depth int, key nameKey) (d dirent, found bool, err error) {
	rows := tx.db.Query(`SELECT ino, kind, born FROM dirent WHERE branch = ?1 AND parent = ?2 AND name = ?3 AND died > ?4 AND born <= ?4 LIMIT 1`,
		l.branch, int64(key.dir), key.name, l.cap)
	defer rows.Close()
	if rows.Next() {
		return dirent{ino: Ino(rows.Int(0)), kind: uint8(rows.Int(1)), level: depth, born: rows.Int(2)}, true, nil
	}
	return dirent{level: fresh}, false, rows.Err()
}

// putDirent makes a name show an inode, by the rule of putInode. ino 0 writes a whiteout.
func (tx *Tx) putDirent(dir Ino, name string, ino Ino, kind uint8) error {
	d, err := tx.lookup(dir, name)
	if err != nil {
		return err
	}
	branch := tx.fsys.at.Branch
	tx.cache.names[nameKey{dir, name}] = dirent{ino: ino, kind: kind, level: 0, born: tx.epoch}
	if d.level == 0 && d.born == tx.epoch {
		_, err := tx.db.Exec(`UPDATE dirent SET ino = ?4, kind = ?5 WHERE branch = ?1 AND parent = ?2 AND name = ?3 AND died = 9223372036854775807`,
			branch, int64(dir), name, orNull(int64(ino)), int64(kind))
		return err
	}
	if d.level == 0 {
		if err := endDirent(tx.db, branch, dir, name, tx.epoch); err != nil {
			return err
		}
	}
	_, err = tx.db.Exec(`INSERT INTO dirent (branch, parent, name, died, born, ino, kind) VALUES (?, ?, ?, 9223372036854775807, ?, ?, ?)`,
		branch, int64(dir), name, tx.epoch, orNull(int64(ino)), int64(kind))
	return err
}

// dropDirent removes a name: by a whiteout if an ancestor still shows it, else by ending its row.
func (tx *Tx) dropDirent(dir Ino, name string) error {
	key := nameKey{dir, name}
	if len(tx.fsys.levels) > 1 {
		shown, err := tx.pastDirent(key)
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
	tx.cache.names[key] = dirent{level: fresh}
	if d.born == tx.epoch {
		_, err := tx.db.Exec(`DELETE FROM dirent WHERE branch = ? AND parent = ? AND name = ? AND died = 9223372036854775807`,
			tx.fsys.at.Branch, int64(dir), name)
		return err
	}
	return endDirent(tx.db, tx.fsys.at.Branch, dir, name, tx.epoch)
}

func endDirent(db *schema.Tx, branch int64, dir Ino, name string, epoch int64) error {
	_, err := db.Exec(`UPDATE dirent SET died = ? WHERE branch = ? AND parent = ? AND name = ? AND died = 9223372036854775807`,
		epoch, branch, int64(dir), name)
	return err
}

// A listed is one entry of a directory page.
type listed struct {
	name string
	ino  Ino
	kind uint8
}

// page returns up to limit entries of a directory in order of their names, beginning after the name after.
func (tx *Tx) page(dir Ino, after string, limit int) ([]listed, error) {
	levels := tx.fsys.levels[:1]
	if len(tx.fsys.levels) > 1 {
		held, err := tx.dirLevels(dir)
		if err != nil {
			return nil, err
		}
		levels = append(levels[:1:1], held...)
	}
	if len(levels) == 1 {
		return tx.pageOfOne(levels[0], dir, after, limit)
	}
	return tx.pageOfMany(levels, dir, after, limit)
}

const pageSQL = `SELECT name, ino, kind FROM dirent WHERE branch = ?1 AND parent = ?2 AND name > ?3 AND died > ?4 AND born <= ?4 ORDER BY name`

func (tx *Tx) pageOfOne(l level, dir Ino, after string, limit int) ([]listed, error) {
	var page []listed
	for {
		rows := tx.db.Query(pageSQL, l.branch, int64(dir), after, l.cap)
		got := 0
		for got < limit && rows.Next() {
			got++
			after = rows.Text(0)
			if ino := Ino(rows.Int(1)); ino != 0 && len(page) < limit {
				page = append(page, listed{after, ino, uint8(rows.Int(2))})
			}
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
		if got < limit || len(page) == limit {
			return page, nil
		}
	}
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
	step := func(i int) error {
		if cursors[i].Next() {
			heads[i] = listed{cursors[i].Text(0), Ino(cursors[i].Int(1)), uint8(cursors[i].Int(2))}
			return nil
		}
		err := cursors[i].Err()
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

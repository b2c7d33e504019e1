package level

import (
	"slices"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// Many reads the rows of many inodes, each from the nearest level that has one, whiteouts included. It asks each of the first depth levels once.
// The statement takes the inodes as [schema.List] has them, the branch and the epoch. Those that scan has returned are deleted from
// missing.
func Many(db *schema.Tx, text string, lineage []history.Level, filters []*Filter, depth int, missing map[node.Ino]bool, scan func(*schema.Rows, int) (node.Ino, error)) error {
	filters, err := Now(db, lineage, filters)
	if err != nil {
		return err
	}
	for number, l := range lineage[:depth] {
		var inos []node.Ino
		for ino := range missing {
			if filters[number].MayHaveIno(ino) {
				inos = append(inos, ino)
			}
		}
		if len(inos) == 0 {
			continue
		}
		slices.Sort(inos)

		rows := db.Query(text, schema.List(inos), l.Branch, l.Cap)
		for rows.Next() {
			ino, err := scan(rows, number)
			if err != nil {
				rows.Close()
				return err
			}
			delete(missing, ino)
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// dirsOf selects those directories of which a level may have entries.
const dirsOf = `SELECT i.value FROM json_each(?1) i WHERE EXISTS (SELECT 1 FROM dirent d WHERE d.branch = ?2 AND d.parent = i.value)`

// Names returns the entries of a lineage that show some inodes. It asks each level once for all of them. Where a nearer level
// has entries of the same directory, shows must tell what a name shows.
func Names(db *schema.Tx, lineage []history.Level, filters []*Filter, inos []node.Ino, shows func(node.Name) (node.Ino, error)) (map[node.Ino][]node.Name, error) {
	found := make(map[node.Ino][]node.Name)
	for i, l := range lineage {
		asked := slices.DeleteFunc(slices.Clone(inos), func(ino node.Ino) bool { return !filters[i].mayName(ino) })
		list, err := namesOf(db, l, asked)
		if err != nil {
			return nil, err
		}
		over, err := laidOver(db, lineage[:i], filters, list)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if over[e.Dir] {
				if ino, err := shows(e.Name); err != nil {
					return nil, err
				} else if ino != e.ino || slices.Contains(found[ino], e.Name) {
					continue
				}
			}
			found[e.ino] = append(found[e.ino], e.Name)
		}
	}
	return found, nil
}

// An entry is a row of a level, and the inode that it shows.
type entry struct {
	row
	ino node.Ino
}

// A row is the key of one within its branch.
type row struct {
	node.Name
	died int64
}

// namesOf reads the entries of one level that show some inodes. The index of inodes does not say when a row was born, and to
// read each row costs as much again. So if few were born after the moment, these are read instead.
func namesOf(db *schema.Tx, l history.Level, inos []node.Ino) (list []entry, err error) {
	if len(inos) == 0 {
		return nil, nil
	}
	later, few, err := bornLater(db, l)
	if err != nil {
		return nil, err
	}
	text := `SELECT d.parent, d.name, d.died, d.ino FROM json_each(?1) i CROSS JOIN dirent d ON d.ino = i.value AND d.branch = ?2 AND d.died > ?3`
	if !few {
		text += ` AND d.born <= ?3`
	}
	rows := db.Query(text, schema.List(inos), l.Branch, l.Cap)
	for rows.Next() {
		if at := scanRow(rows); !later[at] {
			list = append(list, entry{at, node.Ino(rows.Int(3))})
		}
	}
	return list, rows.Err()
}

// bornLater returns the entries of a level that were born after its moment; not few if there are too many.
func bornLater(db *schema.Tx, l history.Level) (later map[row]bool, few bool, err error) {
	later = make(map[row]bool)
	rows := db.Query(`SELECT parent, name, died FROM dirent WHERE branch = ?1 AND born > 2 AND born > ?2`, l.Branch, l.Cap)
	defer rows.Close()
	for rows.Next() {
		if len(later) == MaxFiltered {
			return nil, false, nil
		}
		later[scanRow(rows)] = true
	}
	return later, true, rows.Err()
}

func scanRow(rows *schema.Rows) row {
	return row{node.Name{Dir: node.Ino(rows.Int(0)), Base: rows.Text(1)}, rows.Int(2)}
}

// laidOver returns those directories of some entries of which a nearer level may have entries.
func laidOver(db *schema.Tx, nearer []history.Level, filters []*Filter, list []entry) (map[node.Ino]bool, error) {
	over := make(map[node.Ino]bool)
	if len(nearer) == 0 || len(list) == 0 {
		return over, nil
	}
	var dirs []node.Ino
	for _, e := range list {
		dirs = append(dirs, e.Dir)
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)

	for i, l := range nearer {
		if f := filters[i]; f != nil {
			for _, dir := range dirs {
				over[dir] = over[dir] || f.MayHaveDir(dir)
			}
			continue
		}
		rows := db.Query(dirsOf, schema.List(dirs), l.Branch)
		for rows.Next() {
			over[node.Ino(rows.Int(0))] = true
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return over, nil
}

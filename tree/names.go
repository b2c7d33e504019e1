package tree

import (
	"math"
	"slices"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree/level"
)

// NamesOf returns the entries of the tree that show an inode, reachable from the root or not.
func (tx *Tx) NamesOf(ino node.Ino) ([]node.Name, error) {
	names, err := tx.namesOf(ino)
	return slices.Clone(names), err
}

// Children returns the entries of a directory by its number, in order of their names.
func (tx *Tx) Children(dir node.Ino) ([]node.Child, error) {
	page, err := tx.Page(dir, "", math.MaxInt)
	if err != nil {
		return nil, err
	}
	list := make([]node.Child, len(page))
	for i, l := range page {
		list[i] = node.Child{Name: node.Name{Dir: dir, Base: l.Name}, Ino: l.Ino, IsDir: l.Kind == node.KindDir}
	}
	return list, nil
}

// Root returns the inode number of the tree's root.
func (tx *Tx) Root() node.Ino { return tx.tree.root }

// namesOf returns the entries of the tree that show an inode. They are not the caller's to change.
func (tx *Tx) namesOf(ino node.Ino) ([]node.Name, error) {
	if names, known := tx.mem.NamesOf(ino); known {
		return names, nil
	}
	names, err := tx.loadNames(ino)
	if err == nil {
		tx.mem.PutNamesOf(ino, names)
	}
	return names, err
}

func (tx *Tx) loadNames(ino node.Ino) ([]node.Name, error) {
	names, err := tx.namesIn(ino)
	if err != nil || len(tx.tree.levels) == 1 {
		return names, err
	}
	// A nearer level may say otherwise about a name of a deeper one.
	var shown []node.Name
	for _, name := range names {
		d, err := tx.Lookup(name.Dir, name.Base)
		if err != nil {
			return nil, err
		}
		if d.Ino == ino && !slices.Contains(shown, name) {
			shown = append(shown, name)
		}
	}
	return shown, nil
}

// The head shows every live row, whenever it was born, so there the index alone has the names. That is a page less to read
// for a file that was changed, and with many files a third of the cost of a comparison.
const (
	namesHead = `SELECT parent, name FROM dirent WHERE ino = ?1 AND branch = ?2 AND died = 9223372036854775807`
	namesPast = `SELECT parent, name FROM dirent WHERE ino = ?1 AND branch = ?2 AND died > ?3 AND born <= ?3`
	namesMany = `SELECT d.parent, d.name FROM lineage l CROSS JOIN dirent d ON d.ino = ?1 AND d.branch = l.ancestor
		AND d.died > iif(l.level = 0, ?3, l.epoch) AND d.born <= iif(l.level = 0, ?3, l.epoch) WHERE l.branch = ?2`
)

// namesIn returns the entries that show an inode in any level.
func (tx *Tx) namesIn(ino node.Ino) (names []node.Name, err error) {
	at := tx.tree.at
	switch {
	case len(tx.tree.levels) > 1:
		names, err = appendNames(nil, tx.db.Query(namesMany, int64(ino), at.Branch, at.Epoch))
	case at.Epoch == schema.Head:
		return appendNames(nil, tx.db.Query(namesHead, int64(ino), at.Branch))
	default:
		return appendNames(nil, tx.db.Query(namesPast, int64(ino), at.Branch, at.Epoch))
	}

	// A past moment outlives the lineage of a branch that is dropped, if a fork keeps it. The tree knows its levels.
	if err == nil && len(names) == 0 && at.Final() {
		for _, l := range tx.tree.levels {
			if names, err = appendNames(names, tx.db.Query(namesPast, int64(ino), l.Branch, l.Cap)); err != nil {
				return nil, err
			}
		}
	}
	return names, err
}

// FindNames reads the names of some inodes and of all directories above them at once, for a caller that asks for each next.
func (tx *Tx) FindNames(inos []node.Ino) error {
	shows := func(name node.Name) (node.Ino, error) { return tx.inoAt(Place{Dir: name.Dir, Base: name.Base}) }
	filters, err := level.Now(tx.db, tx.tree.levels, tx.tree.filters)
	if err != nil {
		return err
	}
	for seen := new(node.InoSet); len(inos) > 0; {
		var list []node.Ino
		for _, ino := range inos {
			if _, known := tx.mem.NamesOf(ino); !known && ino != schema.RootIno && seen.Add(ino) {
				list = append(list, ino)
			}
		}
		found, err := level.Names(tx.db, tx.tree.levels, filters, list, shows)
		if err != nil {
			return err
		}
		inos = nil
		for _, ino := range list {
			tx.mem.PutNamesOf(ino, found[ino])
			for _, name := range found[ino] {
				inos = append(inos, name.Dir)
			}
		}
	}
	return nil
}

func appendNames(names []node.Name, rows *schema.Rows) ([]node.Name, error) {
	for rows.Next() {
		names = append(names, node.Name{Dir: node.Ino(rows.Int(0)), Base: rows.Text(1)})
	}
	return names, rows.Err()
}

// OneName fails if a directory has several names. The index of names is compared with the entries: a directory can be
// listed without that index, and so where it is damaged too.
func (tx *Tx) OneName(dir node.Ino) error {
	names, err := tx.namesOf(dir)
	if err != nil || len(names) < 2 {
		return nil
	}

	shown := 0
	for _, name := range names {
		if d, err := tx.Lookup(name.Dir, name.Base); err == nil && d.Ino == dir {
			shown++
		}
	}
	if shown > 1 {
		return schema.Corrupt("directory %d has %d names", dir, shown)
	}
	return nil
}

package tree

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"vfsdb/schema"
)

// A Name is one entry that shows an inode.
type Name struct {
	Dir  Ino
	Base string
}

func (a Name) compare(b Name) int {
	return cmp.Or(cmp.Compare(a.Dir, b.Dir), strings.Compare(a.Base, b.Base))
}

// NamesOf returns the entries of the tree that show an inode, reachable from the root or not.
func (tx *Tx) NamesOf(ino Ino) ([]Name, error) {
	names, err := tx.namesOf(ino)
	return slices.Clone(names), err
}

// Children returns the entries of a directory by its number, in order of their names.
func (tx *Tx) Children(dir Ino) ([]Child, error) {
	page, err := tx.Page(dir, "", math.MaxInt)
	if err != nil {
		return nil, err
	}
	list := make([]Child, len(page))
	for i, l := range page {
		list[i] = Child{Name{dir, l.Name}, l.Ino, l.Kind == KindDir}
	}
	return list, nil
}

// A Child is an entry of a directory and what it shows.
type Child struct {
	Name
	Ino   Ino
	IsDir bool
}

// Root returns the inode number of the tree's root.
func (tx *Tx) Root() Ino { return tx.fsys.root }

// namesOf returns the entries of the tree that show an inode. They are not the caller's to change.
func (tx *Tx) namesOf(ino Ino) ([]Name, error) {
	if names, known := tx.getNamesOf(ino); known {
		return names, nil
	}
	names, err := tx.loadNames(ino)
	if err == nil {
		tx.putNamesOf(ino, names)
	}
	return names, err
}

func (tx *Tx) loadNames(ino Ino) ([]Name, error) {
	names, err := tx.namesIn(ino)
	if err != nil || len(tx.fsys.levels) == 1 {
		return names, err
	}
	// A nearer level may say otherwise about a name of a deeper one.
	var shown []Name
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
func (tx *Tx) namesIn(ino Ino) (names []Name, err error) {
	at := tx.fsys.at
	var rows *schema.Rows
	switch {
	case len(tx.fsys.levels) > 1:
		rows = tx.db.Query(namesMany, int64(ino), at.Branch, at.Epoch)
	case at.Epoch == schema.Head:
		rows = tx.db.Query(namesHead, int64(ino), at.Branch)
	default:
		rows = tx.db.Query(namesPast, int64(ino), at.Branch, at.Epoch)
	}
	for rows.Next() {
		names = append(names, Name{Ino(rows.Int(0)), rows.Text(1)})
	}
	return names, rows.Err()
}

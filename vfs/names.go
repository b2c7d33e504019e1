package vfs

import (
	"cmp"
	"math"
	"slices"
	"strings"
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
func (tx *Tx) NamesOf(ino Ino) ([]Name, error) { return tx.namesOf(ino) }

// Children returns the entries of a directory by its number, in order of their names.
func (tx *Tx) Children(dir Ino) ([]Child, error) {
	page, err := tx.page(dir, "", math.MaxInt)
	if err != nil {
		return nil, err
	}
	list := make([]Child, len(page))
	for i, l := range page {
		list[i] = Child{Name{dir, l.name}, l.ino, l.kind == kindDir}
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

// namesOf returns the entries of the tree that show an inode.
func (tx *Tx) namesOf(ino Ino) ([]Name, error) {
	names, err := tx.namesIn(ino)
	if err != nil || len(tx.fsys.levels) == 1 {
		return names, err
	}
	// A nearer level may say otherwise about a name of a deeper one.
	var shown []Name
	for _, name := range names {
		d, err := tx.lookup(name.Dir, name.Base)
		if err != nil {
			return nil, err
		}
		if d.ino == ino && !slices.Contains(shown, name) {
			shown = append(shown, name)
		}
	}
	return shown, nil
}

const (
	namesOne  = `SELECT parent, name FROM dirent WHERE ino = ?3 AND branch = ?1 AND died > ?2 AND born <= ?2`
	namesMany = `SELECT d.parent, d.name FROM lineage l CROSS JOIN dirent d ON d.ino = ?3 AND d.branch = l.ancestor
		AND d.died > iif(l.level = 0, ?2, l.epoch) AND d.born <= iif(l.level = 0, ?2, l.epoch) WHERE l.branch = ?1`
)

// namesIn returns the entries that show an inode in any level.
func (tx *Tx) namesIn(ino Ino) (names []Name, err error) {
	text := namesOne
	if len(tx.fsys.levels) > 1 {
		text = namesMany
	}
	rows := tx.db.Query(text, tx.fsys.at.Branch, tx.fsys.at.Epoch, int64(ino))
	for rows.Next() {
		names = append(names, Name{Ino(rows.Int(0)), rows.Text(1)})
	}
	return names, rows.Err()
}

// parentOf returns the directory that holds a directory; 0 for the root, and for one that has lost its name.
func (tx *Tx) parentOf(dir Ino) (Ino, error) {
	names, err := tx.namesOf(dir)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	return names[0].Dir, nil
}

// Paths returns the paths of the tree that lead to an inode, sorted. None if it has lost its names, or lies below a
// directory that has.
func (tx *Tx) Paths(ino Ino) ([]string, error) {
	if ino == tx.fsys.root {
		return []string{"."}, nil
	}
	names, err := tx.namesOf(ino)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		dir, ok, err := tx.dirPath(name.Dir)
		if err != nil {
			return nil, err
		}
		if ok {
			paths = append(paths, dir+name.Base)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// dirPath returns the path of a directory with a slash at its end, "" for the root. It is not ok for a directory that
// the root does not lead to.
func (tx *Tx) dirPath(dir Ino) (path string, ok bool, err error) {
	for dir != tx.fsys.root {
		names, err := tx.namesOf(dir)
		if err != nil || len(names) == 0 {
			return "", false, err
		}
		path = names[0].Base + "/" + path
		dir = names[0].Dir
	}
	return path, true, nil
}

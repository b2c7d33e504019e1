package snapshot

import (
	"slices"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A side is one of the two trees of a diff, with the entries that differ in it.
type side struct {
	tx    *tree.Tx
	names map[vfs.Ino][]string // paths of entries that only this side shows, by inode
	at    map[string]vfs.Ino   // the same entries by path
	dirs  tree.PathFinder
	full  map[vfs.Ino]string // directories all of whose entries were added, with the same paths
}

func newSide(tx *tree.Tx) *side {
	return &side{
		tx: tx, names: make(map[vfs.Ino][]string), at: make(map[string]vfs.Ino),
		dirs: tx.PathFinder(), full: make(map[vfs.Ino]string),
	}
}

// show adds an entry that only this side has, if the root leads to its directory. Inode 0 is no entry.
func (s *side) show(name node.Name, ino vfs.Ino) error {
	if ino == 0 {
		return nil
	}
	dir, err := s.dirs.Path(name.Dir)
	if err != nil || dir == "" {
		return err
	}
	s.add(node.JoinPath(dir, name.Base), ino)
	return nil
}

func (s *side) add(path string, ino vfs.Ino) {
	if _, seen := s.at[path]; seen {
		return
	}
	s.at[path] = ino
	s.names[ino] = append(s.names[ino], path)
}

// shown returns the inodes with entries on this side, sorted.
func (s *side) shown() []vfs.Ino {
	list := make([]vfs.Ino, 0, len(s.names))
	for ino := range s.names {
		list = append(list, ino)
	}
	slices.Sort(list)
	return list
}

// reaches reports whether the root leads to a directory.
func (s *side) reaches(ino vfs.Ino) (bool, error) {
	info, err := s.tx.Info(ino)
	if err != nil || info == nil {
		return false, err
	}
	path, err := s.dirs.Path(ino)
	return path != "", err
}

// descend adds everything below the directories that this side shows and the other does not reach.
func (s *side) descend(other *side) error {
	for _, ino := range s.shown() {
		info, err := s.tx.Info(ino)
		if err != nil {
			return err
		}
		if info == nil || !info.IsDir() {
			continue
		}

		if err := s.descendInto(ino, s.names[ino][0]+"/", other); err != nil {
			return err
		}
	}
	return nil
}

// descendInto adds everything below a directory, unless the other side reaches it: then it was moved, and the entries
// that differ in it have rows of their own.
func (s *side) descendInto(dir vfs.Ino, path string, other *side) error {
	reached, err := other.reaches(dir)
	if err != nil || reached {
		return err
	}

	if was, done := s.full[dir]; done && was != path {
		return schema.Corrupt("directory %d has two paths, %s and %s", dir, was, path)
	} else if done {
		return nil
	}
	s.full[dir] = path

	children, err := s.tx.Children(dir)
	if err != nil {
		return err
	}
	for _, c := range children {
		s.add(path+c.Base, c.Ino)
		if !c.IsDir {
			continue
		}
		if err := s.descendInto(c.Ino, path+c.Base+"/", other); err != nil {
			return err
		}
	}
	return nil
}

package patch

import (
	"maps"
	"slices"

	"vfsdb/node"
	"vfsdb/tree"
)

// A place is a path at which two trees may show different files.
type place struct {
	path     string
	old, now *node.Node // what the trees have there, or nil
	from     *place     // where its file was in the old tree, if it was renamed
	moved    bool       // its old file was renamed, and is in the section of another place
}

// places returns the places, sorted by path. A nil old is an empty tree.
func places(old, now *tree.Tx, wanted func(string) bool) ([]*place, error) {
	delta, err := compare(old, now)
	if err != nil {
		return nil, err
	}

	// An inode of which no entry differs has the same names in both trees.
	names := make(map[node.Ino][]node.Name)
	for _, c := range delta.Names {
		names[c.Old], names[c.New] = nil, nil
	}
	at := make(map[string]*place)
	for i, tx := range []*tree.Tx{old, now} {
		if tx == nil {
			continue
		}
		l := look{tx, tx.PathFinder(), names, make(map[string]node.Ino)}
		if err := l.find(delta, i == 0); err != nil {
			return nil, err
		}
		for path, ino := range l.shown {
			if !wanted(path) {
				continue
			}
			n, err := tx.Node(ino)
			if err != nil {
				return nil, err
			}
			p := at[path]
			if p == nil {
				p = &place{path: path}
				at[path] = p
			}
			if i == 0 {
				p.old = n
			} else {
				p.now = n
			}
		}
	}

	list := make([]*place, 0, len(at))
	for _, path := range slices.Sorted(maps.Keys(at)) {
		list = append(list, at[path])
	}
	return list, nil
}

// compare returns the difference of two trees. From an empty tree it is that the root has come.
func compare(old, now *tree.Tx) (*tree.Delta, error) {
	if old != nil {
		return tree.Compare(old, now)
	}
	children, err := now.Children(now.Root())
	if err != nil {
		return nil, err
	}
	d := &tree.Delta{}
	for _, c := range children {
		d.Names = append(d.Names, tree.NameChange{Name: c.Name, New: c.Ino})
	}
	return d, nil
}

// A look collects the paths that one tree shows and that may differ.
type look struct {
	tx    *tree.Tx
	dirs  tree.PathFinder
	names map[node.Ino][]node.Name // of inodes that have the same in both trees; nil of the others
	shown map[string]node.Ino
}

// find collects the paths of inodes that differ, those of entries that differ, and all below these.
func (l *look) find(delta *tree.Delta, old bool) error {
	for _, c := range delta.Inodes {
		if c.Ino == l.tx.Root() {
			l.shown["."] = c.Ino
			continue
		}
		names, err := l.namesOf(c.Ino)
		if err != nil {
			return err
		}
		for _, name := range names {
			dir, err := l.dirs.Path(name.Dir)
			if err != nil {
				return err
			}
			if dir != "" {
				l.shown[node.JoinPath(dir, name.Base)] = c.Ino
			}
		}
	}

	walked := make(map[string]bool)
	for _, c := range delta.Names {
		ino := c.New
		if old {
			ino = c.Old
		}
		dir, err := l.dirs.Path(c.Dir)
		if err != nil {
			return err
		}
		if ino == 0 || dir == "" {
			continue
		}
		if err := l.below(node.JoinPath(dir, c.Base), ino, walked, nil); err != nil {
			return err
		}
	}
	return nil
}

// namesOf returns the entries that show an inode.
func (l *look) namesOf(ino node.Ino) ([]node.Name, error) {
	names, known := l.names[ino]
	if len(names) > 0 {
		return names, nil
	}
	names, err := l.tx.NamesOf(ino)
	if !known {
		l.names[ino] = names
	}
	return names, err
}

// below collects the path of an inode, and all below it. above are the directories above.
func (l *look) below(path string, ino node.Ino, walked map[string]bool, above []node.Ino) error {
	l.shown[path] = ino
	if walked[path] {
		return nil
	}
	walked[path] = true
	n, err := l.tx.Node(ino)
	if err != nil || n == nil || !n.IsDir() {
		return err
	}
	if slices.Contains(above, ino) {
		return node.ErrBelowItself(ino)
	}

	children, err := l.tx.Children(ino)
	if err != nil {
		return err
	}
	for _, c := range children {
		if err := l.below(node.JoinPath(path, c.Base), c.Ino, walked, append(above, ino)); err != nil {
			return err
		}
	}
	return nil
}

// drawn reports whether a patch can show a file.
func drawn(n *node.Node) bool {
	return n != nil && (n.Kind() == node.KindFile || n.Kind() == node.KindLink)
}

// opens reports whether a symlink gives way to a directory. If that were a rename, git apply would take the files of the
// directory to lie behind the symlink.
func opens(p *place) bool { return p.old.Kind() == node.KindLink && p.now != nil && p.now.IsDir() }

// pair finds the files that were renamed: those that lost a name and gained another one.
func pair(list []*place) {
	lost := make(map[node.Ino][]*place)
	for _, p := range list {
		if drawn(p.old) && (p.now == nil || p.now.Ino != p.old.Ino) && !opens(p) {
			lost[p.old.Ino] = append(lost[p.old.Ino], p)
		}
	}
	var moves []*place
	for _, p := range list {
		if !drawn(p.now) || p.old != nil && p.old.Ino == p.now.Ino || len(lost[p.now.Ino]) == 0 {
			continue
		}
		p.from, lost[p.now.Ino] = lost[p.now.Ino][0], lost[p.now.Ino][1:]
		p.from.moved = true
		moves = append(moves, p)
	}

	// git renames a file only to a name that is free, or becomes free because its file is renamed too. Taking one rename back
	// can take that from another.
	for again := true; again; {
		again = false
		for _, p := range moves {
			if p.from != nil && drawn(p.old) && !p.moved {
				p.from.moved, p.from = false, nil
				again = true
			}
		}
	}
}

package snapshot

import (
	"maps"
	"slices"

	"vfsdb/node"
	"vfsdb/tree"
)

// leaveBelow plans what happens below an inode that leaves its place. It keeps its entries, for gc, but for those that show what
// stays: what has a name elsewhere, and what was taken.
func (b *bringer) leaveBelow(ino node.Ino, seen *node.InoSet) error {
	n, err := b.tx.Node(ino)
	if err != nil || n == nil || !n.IsDir() || b.taken[ino] {
		return err
	}
	if !seen.Add(ino) {
		return node.ErrBelowItself(ino)
	}
	below, err := b.tx.Children(ino)
	if err != nil {
		return err
	}
	inos := make([]node.Ino, len(below))
	for i, c := range below {
		inos[i] = c.Ino
	}
	if err := b.tx.FindNodes(inos); err != nil {
		return err
	}
	for _, c := range below {
		child, err := b.tx.Node(c.Ino)
		if err != nil {
			return err
		}
		if child != nil && (child.Nlink > 1 || b.taken[c.Ino]) {
			b.out[c.Name] = 0
		}
		if err := b.leaveBelow(c.Ino, seen); err != nil {
			return err
		}
	}
	return nil
}

// leaveStale drops the names that inodes which were taken had before: in the places, and where nothing leads any more.
func (b *bringer) leaveStale() error {
	for ino := range b.taken {
		if n, err := b.tx.Node(ino); err != nil {
			return err
		} else if n == nil {
			continue
		}
		names, err := b.tx.NamesOf(ino)
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, planned := b.out[name]; planned {
				continue
			}
			outside, err := b.isOutside(name)
			if err != nil {
				return err
			}
			if !outside {
				b.out[name] = 0
			}
		}
	}
	return nil
}

// delta turns the plan into what differs from the head; nil if nothing does.
func (b *bringer) delta() (*tree.Delta, error) {
	d := &tree.Delta{}
	links := make(map[node.Ino]int64) // by how many the names of an inode change
	touched := make(map[node.Ino]bool)
	changes := false
	for _, name := range slices.SortedFunc(maps.Keys(b.out), node.Name.Compare) {
		was, err := b.tx.Lookup(name.Dir, name.Base)
		if err != nil {
			return nil, err
		}
		c := tree.NameChange{Name: name, Old: was.Ino, New: b.out[name]}
		if c.Old == c.New {
			// A name that nothing leads to yet comes back with its directory: the log is to have it.
			if path, err := b.dirs.Path(name.Dir); err != nil {
				return nil, err
			} else if path == "" && c.New != 0 {
				d.Names = append(d.Names, c)
			}
			continue
		}
		changes = true
		d.Names = append(d.Names, c)
		links[c.Old]--
		links[c.New]++
		touched[name.Dir] = true
	}
	delete(links, 0)

	inos := make(map[node.Ino]bool)
	for ino := range b.nodes {
		inos[ino] = true
	}
	for ino := range links {
		inos[ino] = true
	}
	for ino := range touched {
		inos[ino] = true
	}
	for _, ino := range slices.Sorted(maps.Keys(inos)) {
		was, err := b.tx.Node(ino)
		if err != nil {
			return nil, err
		}
		is := b.become(ino, was, touched[ino])
		if is == nil {
			continue
		}
		is.Nlink += links[ino]
		if node.Same(was, is) {
			continue
		}
		if was == nil || !node.Alike(was, is) || was.Nlink != is.Nlink {
			changes = true
		}
		is.Ctime = b.tx.Now()
		d.Inodes = append(d.Inodes, tree.InodeChange{Ino: ino, Old: node.InfoOf(was), New: node.InfoOf(is)})
	}
	if !changes { // the times of directories are no difference
		return nil, nil
	}
	return d, nil
}

// become returns what an inode of the head becomes, apart from the number of its names; nil if there is none.
func (b *bringer) become(ino node.Ino, was *node.Node, entries bool) *node.Node {
	if planned := b.nodes[ino]; planned != nil || was == nil {
		return planned
	}
	is := *was
	if entries { // of a directory above the places
		is.Mtime = b.tx.Now()
	}
	return &is
}

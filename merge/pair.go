package merge

import (
	"maps"
	"slices"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/tree"
)

// pair finds the inodes that continue others: an editor writes a new file and renames it over the old one, a program
// removes a directory and makes it anew. Only those matter of which the other side has changed something.
func (m *merger) pair() error {
	err := m.pairLost(m.theirs, m.ours, m.byTheirs, m.byOurs, m.inTheirs, m.ofTheirs)
	if err == nil {
		err = m.pairLost(m.ours, m.theirs, m.byOurs, m.byTheirs, m.inOurs, m.ofOurs)
	}
	if err == nil {
		err = m.pairAdded()
	}
	if err == nil {
		err = m.pairBelow()
	}
	return err
}

// pairBelow pairs what was in a directory that theirs has made anew with what has those names there now. Entries that are
// gone have no rows of their own, so they are to be decided about too.
func (m *merger) pairBelow() error {
	for todo := slices.Sorted(maps.Keys(m.inTheirs)); len(todo) > 0; todo = todo[1:] {
		before, err := stateOf(m.base, todo[0], nil)
		if err != nil {
			return err
		}
		if !before.there() || !before.node.IsDir() {
			continue
		}
		list, err := m.base.children(todo[0])
		if err != nil {
			return err
		}

		for _, base := range slices.Sorted(maps.Keys(list)) {
			id := list[base]
			is, err := stateOf(m.theirs, or(m.inTheirs, id), nil)
			if err != nil {
				return err
			}
			if is.there() {
				continue
			}
			m.lost = append(m.lost, id)

			was, err := m.base.node(id)
			if err != nil {
				return err
			}
			if was == nil {
				continue
			}
			found, err := m.theirs.entry(node.Name{Dir: m.inTheirs[todo[0]], Base: base})
			if err != nil {
				return err
			}
			fits, err := m.continues(m.theirs, found, was, m.ofTheirs)
			if err != nil {
				return err
			}
			if fits {
				m.inTheirs[id], m.ofTheirs[found] = found, id
				todo = append(todo, id)
			}
		}
	}
	return nil
}

// pairLost pairs inodes that a side has lost, and that the other changed or removed, with inodes that are new on that side: one
// that has the path or the place now, or else one of the same content.
func (m *merger) pairLost(v, beside *view, by, other *tree.Delta, in, of map[node.Ino]node.Ino) error {
	candidates := make(map[node.Ino]bool)
	for _, id := range touched(other, nil) {
		candidates[id] = true
	}
	for _, c := range other.Names {
		candidates[c.Dir] = true
	}
	for _, c := range by.Names {
		if c.Old == 0 {
			continue
		}
		is, err := stateOf(beside, c.Old, nil)
		if err != nil {
			return err
		}
		if !is.there() { // it may have gone with a directory, without a row
			candidates[c.Old] = true
		}
	}

	alike, err := m.newFiles(v, by)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(candidates)) {
		was, err := stateOf(m.base, id, nil)
		if err != nil {
			return err
		}
		is, err := stateOf(v, id, nil)
		if err != nil {
			return err
		}
		if !was.there() || is.there() {
			continue
		}

		found, err := m.successor(v, id, was, in, of)
		if err != nil {
			return err
		}
		if found == 0 {
			found, err = m.firstFit(v, alike[was.node.Content], was.node, of)
		}
		if err != nil {
			return err
		}
		if found == 0 {
			continue
		}
		in[id], of[found] = found, id
	}
	return nil
}

// successor returns the inode that has the path of a lost one now, or else its name in its directory, which may have moved;
// 0 if none does.
func (m *merger) successor(v *view, id node.Ino, was state, in, of map[node.Ino]node.Ino) (node.Ino, error) {
	path, err := m.base.path(id)
	if err != nil {
		return 0, err
	}
	found, err := v.at(path)
	if err != nil {
		return 0, err
	}
	if fits, err := m.continues(v, found, was.node, of); fits || err != nil {
		return found, err
	}

	for _, name := range was.links {
		found, err := v.entry(node.Name{Dir: or(in, name.Dir), Base: name.Base})
		if err != nil {
			return 0, err
		}
		if fits, err := m.continues(v, found, was.node, of); fits || err != nil {
			return found, err
		}
	}
	return 0, nil
}

// continues reports whether an inode of a side can be what an inode of the base has become: it is new there, of the same
// type, and continues no other.
func (m *merger) continues(v *view, ino node.Ino, was *node.Node, of map[node.Ino]node.Ino) (bool, error) {
	if ino == 0 || of[ino] != 0 {
		return false, nil
	}
	before, err := stateOf(m.base, ino, nil)
	if err != nil || before.there() {
		return false, err
	}
	n, err := v.node(ino)
	return n != nil && n.Kind() == was.Kind(), err
}

func (m *merger) firstFit(v *view, list []node.Ino, was *node.Node, of map[node.Ino]node.Ino) (node.Ino, error) {
	for _, ino := range list {
		if fits, err := m.continues(v, ino, was, of); fits || err != nil {
			return ino, err
		}
	}
	return 0, nil
}

// newFiles lists the files that a side has made, by content. Empty ones say nothing.
func (m *merger) newFiles(v *view, by *tree.Delta) (map[chunk.Content][]node.Ino, error) {
	list := make(map[chunk.Content][]node.Ino)
	for _, c := range by.Inodes {
		if c.New == nil || c.Old != nil {
			continue
		}
		s, err := stateOf(v, c.Ino, nil)
		if err != nil {
			return nil, err
		}
		if s.there() && s.node.Kind() == node.KindFile && s.node.Content.Size > 0 {
			list[s.node.Content] = append(list[s.node.Content], c.Ino)
		}
	}
	return list, nil
}

// pairAdded pairs what theirs added under a name that ours has too: directories become one, and so do files with equal
// content.
func (m *merger) pairAdded() error {
	inDir := make(map[node.Ino][]tree.NameChange)
	var todo []tree.NameChange
	for _, c := range m.byTheirs.Names {
		if c.New != 0 {
			inDir[c.Dir] = append(inDir[c.Dir], c)
			todo = append(todo, c)
		}
	}

	for len(todo) > 0 {
		c := todo[0]
		todo = todo[1:]
		paired, err := m.pairAt(c)
		if err != nil {
			return err
		}
		if paired {
			below, err := m.cameBack(c.New)
			if err != nil {
				return err
			}
			todo = append(append(todo, inDir[c.New]...), below...)
		}
	}
	return nil
}

// pairAt pairs what theirs shows under a name with what ours shows there. It reports whether these are directories.
func (m *merger) pairAt(c tree.NameChange) (dirs bool, err error) {
	if _, done := m.ofTheirs[c.New]; done {
		return false, nil
	}
	dir, err := m.number(or(m.ofTheirs, c.Dir))
	if err != nil {
		return false, err
	}
	found, err := m.ours.entry(node.Name{Dir: dir, Base: c.Base})
	if err != nil || found == 0 || found == c.New {
		return false, err
	}

	theirs, err := stateOf(m.theirs, c.New, m.ofTheirs)
	if err != nil || !theirs.there() {
		return false, err
	}
	before, err := stateOf(m.base, c.New, nil)
	if err != nil || before.there() {
		return false, err
	}
	id := or(m.ofOurs, found)
	ours, err := m.ours.node(found)
	if err != nil || ours == nil || ours.Kind() != theirs.node.Kind() {
		return false, err
	}
	if other, err := stateOf(m.theirs, or(m.inTheirs, id), m.ofTheirs); err != nil || other.there() {
		return false, err // theirs has it elsewhere
	}

	dirs = ours.IsDir()
	same := ours.Content == theirs.node.Content && ours.Target == theirs.node.Target && ours.Rdev == theirs.node.Rdev
	if !dirs {
		was, err := stateOf(m.base, id, nil)
		if err != nil || was.there() || !same {
			return false, err
		}
	}
	m.inTheirs[id], m.ofTheirs[c.New] = c.New, id
	return dirs, nil
}

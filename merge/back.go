package merge

import (
	"fmt"
	"time"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Span is a stretch of history that is taken back: what lies between two moments. Call is the call that ended it, which
// labels the states in conflicts.
type Span struct {
	Before, After vfs.Moment
	Call          int64
}

// Back takes spans of history back from the head of a transaction, one after the other: a merge with the moment after a span
// as the base, and the one before as theirs. Later changes stay, and conflict where they changed the same in another way. It
// returns the conflicts that it made. It notes no merge and keeps no undo. The moments must be whole, see [history.Whole].
//
// It looks at the head only where the spans have touched it, so it costs as much as they have changed, whatever came later:
// the entries and inodes that they changed, the names of these, the directories above, and what is below a directory that
// goes. So a file that was made anew later, with an equal content in another place, is not found to continue one that goes.
func Back(vtx *vfs.Tx, spans []Span) ([]Conflict, error) {
	tx := (*tree.Tx)(vtx)
	if err := tx.TakeWrites(); err != nil {
		return nil, err
	}
	var made []node.Ino
	for _, s := range spans {
		inos, err := back(tx, s)
		if err != nil {
			return nil, err
		}
		made = append(made, inos...)
	}
	return conflictsAmong(tx, made)
}

// back takes one span back, and returns the inodes that got a conflict.
func back(tx *tree.Tx, s Span) ([]node.Ino, error) {
	var views [2]*view
	for i, at := range []vfs.Moment{s.After, s.Before} {
		past, err := tx.Past(at)
		if err != nil {
			return nil, err
		}
		on, err := tx.On(past)
		if err != nil {
			return nil, err
		}
		views[i] = newView(on)
	}

	m := newMerger(views[0], newView(tx), views[1])
	var err error
	if m.byTheirs, err = compare(m.base, m.theirs); err != nil {
		return nil, err
	}
	if m.byOurs, err = m.near(); err != nil {
		return nil, err
	}
	m.partly, m.now = true, time.Now().UnixNano()
	m.label = [3]string{Base: fmt.Sprintf("after-%d", s.Call), Ours: nameOf(tx.Tree()), Theirs: fmt.Sprintf("before-%d", s.Call)}
	if err := m.run(); err != nil {
		return nil, err
	}

	var made []node.Ino
	for ino := range m.terms {
		was, err := m.ours.node(ino)
		if err != nil {
			return nil, err
		}
		if is := m.out.nodes[ino]; is != nil && is.Conflict != "" && (was == nil || was.Conflict != is.Conflict) {
			made = append(made, ino)
		}
	}
	_, err = m.write(tx)
	return made, err
}

// A vicinity collects the entries and inodes of which ours has to be compared with the base.
type vicinity struct {
	m     *merger
	names map[node.Name]bool
	inos  map[node.Ino]bool
}

// near compares the base with ours, where theirs touches them.
func (m *merger) near() (*tree.Delta, error) {
	v := vicinity{m, make(map[node.Name]bool), make(map[node.Ino]bool)}
	for _, c := range m.byTheirs.Names {
		if err := v.addName(c.Name); err != nil {
			return nil, err
		}
	}
	for _, c := range m.byTheirs.Inodes {
		if err := v.addIno(c.Ino); err != nil {
			return nil, err
		}
	}

	for _, ino := range touched(m.byTheirs, nil) {
		was, err := stateOf(m.base, ino, nil)
		if err != nil {
			return nil, err
		}
		is, err := stateOf(m.theirs, ino, nil)
		if err != nil {
			return nil, err
		}
		if was.there() && was.node.IsDir() && !is.there() {
			if err := v.addBelow(ino, new(node.InoSet)); err != nil {
				return nil, err
			}
		}
	}
	return differing(m.base, m.ours, v.names, v.inos)
}

func (v *vicinity) views() []*view { return []*view{v.m.base, v.m.ours, v.m.theirs} }

// addName adds a name, its directory, and what it shows in each of the trees.
func (v *vicinity) addName(name node.Name) error {
	if v.names[name] {
		return nil
	}
	v.names[name] = true
	if err := v.addIno(name.Dir); err != nil {
		return err
	}
	for _, view := range v.views() {
		ino, err := view.lookup(name)
		if err != nil {
			return err
		}
		if err := v.addIno(ino); err != nil {
			return err
		}
	}
	return nil
}

// addIno adds an inode and its names in each of the trees, and so the directories above.
func (v *vicinity) addIno(ino node.Ino) error {
	if ino == 0 || v.inos[ino] {
		return nil
	}
	v.inos[ino] = true
	if ino == schema.RootIno {
		return nil
	}
	for _, view := range v.views() {
		names, err := view.rawNames(ino)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := v.addName(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// addBelow adds all that is below a directory in the base and in ours.
func (v *vicinity) addBelow(dir node.Ino, seen *node.InoSet) error {
	if !seen.Add(dir) {
		return nil
	}

	for _, view := range v.views()[:2] {
		list, err := view.children(dir)
		if err != nil {
			return err
		}
		for base, ino := range list {
			if err := v.addName(node.Name{Dir: dir, Base: base}); err != nil {
				return err
			}

			n, err := view.node(ino)
			if err != nil {
				return err
			}
			if n != nil && n.IsDir() {
				if err := v.addBelow(ino, seen); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

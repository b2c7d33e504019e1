package merge

import (
	"maps"
	"slices"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// A view is a tree with changes laid over it in memory: one of the three trees of a merge, or its result. Rows that the
// root does not lead to are in a tree too, below directories that were removed; what an entry shows is asked with care.
type view struct {
	tx    *tree.Tx // nil: an empty tree
	names map[node.Name]node.Ino
	nodes map[node.Ino]*node.Node
	added map[node.Ino]map[node.Name]bool // names over the tree, by the inode that they show

	led    map[node.Ino]bool        // directories, and whether the root leads there
	stored map[node.Ino][]node.Name // that the tree itself has, as far as they were asked for

	// What it differs in from another view, if that is known: the names that each inode has lost and gained, and the inodes.
	from         *view
	lost, gained map[node.Ino][]node.Name
	changed      map[node.Ino]*node.Node
}

func newView(tx *tree.Tx) *view {
	return &view{
		tx: tx, names: make(map[node.Name]node.Ino), nodes: make(map[node.Ino]*node.Node),
		added: make(map[node.Ino]map[node.Name]bool), led: make(map[node.Ino]bool), stored: make(map[node.Ino][]node.Name),
	}
}

// clone returns a view of its own on the same.
func (v *view) clone() *view {
	c := newView(v.tx)
	c.stored, c.from, c.lost, c.gained, c.changed = v.stored, v.from, v.lost, v.gained, v.changed
	maps.Copy(c.names, v.names)
	maps.Copy(c.nodes, v.nodes)
	for ino, names := range v.added {
		c.added[ino] = maps.Clone(names)
	}
	return c
}

// lookup returns the inode that a name shows, whether the root leads there or not; 0 if it shows none.
func (v *view) lookup(name node.Name) (node.Ino, error) {
	if ino, ok := v.names[name]; ok || v.tx == nil {
		return ino, nil
	}
	d, err := v.tx.Lookup(name.Dir, name.Base)
	return d.Ino, err
}

// node returns an inode, or nil. It is not the caller's to change.
func (v *view) node(ino node.Ino) (*node.Node, error) {
	if n, ok := v.nodes[ino]; ok || v.tx == nil {
		return n, nil
	}
	if v.from == nil {
		return v.tx.Node(ino)
	}
	if n, changed := v.changed[ino]; changed {
		return n, nil
	}
	return v.from.node(ino)
}

// rawNames returns the names that show an inode, whether the root leads there or not.
func (v *view) rawNames(ino node.Ino) ([]node.Name, error) {
	var names []node.Name
	if v.tx != nil {
		stored, err := v.storedNames(ino)
		if err != nil {
			return nil, err
		}
		for _, name := range stored {
			if _, changed := v.names[name]; !changed {
				names = append(names, name)
			}
		}
	}
	names = slices.AppendSeq(names, maps.Keys(v.added[ino]))
	slices.SortFunc(names, node.Name.Compare)
	return names, nil
}

// differsFrom gives the view its differences from another one, so that the rest has to be read of one of them only.
func (v *view) differsFrom(from *view, by *tree.Delta) {
	v.from, v.lost, v.gained = from, make(map[node.Ino][]node.Name), make(map[node.Ino][]node.Name)
	v.changed = make(map[node.Ino]*node.Node)
	for _, c := range by.Inodes {
		v.changed[c.Ino] = nil
		if c.New != nil {
			v.changed[c.Ino] = node.NodeOf(c.New)
		}
	}
	for _, c := range by.Names {
		v.lost[c.Old] = append(v.lost[c.Old], c.Name)
		v.gained[c.New] = append(v.gained[c.New], c.Name)
	}
}

// storedNames returns the names that show an inode in the tree itself.
func (v *view) storedNames(ino node.Ino) (names []node.Name, err error) {
	names, known := v.stored[ino]
	switch {
	case known:
		return names, nil
	case v.from == nil:
		names, err = v.tx.NamesOf(ino)
	default:
		if names, err = v.from.rawNames(ino); err == nil {
			names = append(minus(names, v.lost[ino]), v.gained[ino]...)
		}
	}
	if err == nil {
		v.stored[ino] = names
	}
	return names, err
}

// links returns the names that show an inode, as far as the root leads there.
func (v *view) links(ino node.Ino) ([]node.Name, error) {
	names, err := v.rawNames(ino)
	if err != nil {
		return nil, err
	}
	var shown []node.Name
	for _, name := range names {
		leads, err := v.leads(name.Dir)
		if err != nil {
			return nil, err
		}
		if leads {
			shown = append(shown, name)
		}
	}
	return shown, nil
}

// entry returns the inode that a name shows, if the root leads there.
func (v *view) entry(name node.Name) (node.Ino, error) {
	ino, err := v.lookup(name)
	if err != nil || ino == 0 {
		return 0, err
	}
	if leads, err := v.leads(name.Dir); err != nil || !leads {
		return 0, err
	}
	return ino, nil
}

// leads reports whether the root leads to a directory. Directories that lie in a circle, it does not.
func (v *view) leads(dir node.Ino) (bool, error) {
	var passed []node.Ino
	leads := false
	for at := dir; ; {
		known, ok := v.led[at]
		if at == schema.RootIno || ok {
			leads = known || at == schema.RootIno
			break
		}
		if slices.Contains(passed, at) {
			break
		}
		passed = append(passed, at)

		names, err := v.rawNames(at)
		if err != nil {
			return false, err
		}
		if len(names) == 0 {
			break
		}
		at = names[0].Dir
	}
	for _, at := range passed {
		v.led[at] = leads
	}
	return leads, nil
}

// put lets a name show an inode, 0 for none.
func (v *view) put(name node.Name, ino node.Ino) error {
	was, err := v.lookup(name)
	if err != nil {
		return err
	}
	delete(v.added[was], name)
	v.names[name] = ino
	if ino != 0 {
		if v.added[ino] == nil {
			v.added[ino] = make(map[node.Name]bool)
		}
		v.added[ino][name] = true
	}
	clear(v.led) // the inode may be a directory's
	return nil
}

// path returns the first path of an inode as base names below the root; nil if the root does not lead there.
func (v *view) path(ino node.Ino) ([]string, error) {
	names, err := v.links(ino)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var path []string
	for at := names[0]; ; {
		path = append(path, at.Base)
		if at.Dir == schema.RootIno {
			break
		}
		above, err := v.rawNames(at.Dir)
		if err != nil || len(above) == 0 {
			return nil, err
		}
		at = above[0]
	}
	slices.Reverse(path)
	return path, nil
}

// at returns the inode at a path of base names; 0 if there is none.
func (v *view) at(path []string) (ino node.Ino, err error) {
	ino = schema.RootIno
	for _, base := range path {
		if ino, err = v.lookup(node.Name{Dir: ino, Base: base}); err != nil || ino == 0 {
			return 0, err
		}
	}
	return ino, nil
}

// children returns the entries of a directory, whether the root leads there or not.
func (v *view) children(dir node.Ino) (map[string]node.Ino, error) {
	list := make(map[string]node.Ino)
	if v.tx != nil {
		stored, err := v.tx.Children(dir)
		if err != nil {
			return nil, err
		}
		for _, c := range stored {
			list[c.Base] = c.Ino
		}
	}
	for name, ino := range v.names {
		if name.Dir == dir {
			delete(list, name.Base)
			if ino != 0 {
				list[name.Base] = ino
			}
		}
	}
	return list, nil
}

// compare returns what differs from one view to another: entries and inodes.
func compare(from, to *view) (*tree.Delta, error) {
	if from.tx == nil {
		return wholeOf(to)
	}
	d, err := tree.Compare(from.tx, to.tx)
	if err != nil || len(from.names)+len(from.nodes)+len(to.names)+len(to.nodes) == 0 {
		return d, err
	}

	// What is laid over one of them may differ too, or make equal what differs below.
	names, inos := make(map[node.Name]bool), make(map[node.Ino]bool)
	for _, c := range d.Names {
		names[c.Name] = true
	}
	for _, c := range d.Inodes {
		inos[c.Ino] = true
	}
	for _, v := range []*view{from, to} {
		for name := range v.names {
			names[name] = true
		}
		for ino := range v.nodes {
			inos[ino] = true
		}
	}
	return differing(from, to, names, inos)
}

// differing returns which of some keys differ.
func differing(from, to *view, names map[node.Name]bool, inos map[node.Ino]bool) (*tree.Delta, error) {
	d := &tree.Delta{}
	for _, name := range slices.SortedFunc(maps.Keys(names), node.Name.Compare) {
		old, err := from.lookup(name)
		if err != nil {
			return nil, err
		}
		now, err := to.lookup(name)
		if err != nil {
			return nil, err
		}
		if old != now {
			d.Names = append(d.Names, tree.NameChange{Name: name, Old: old, New: now})
		}
	}

	for _, ino := range slices.Sorted(maps.Keys(inos)) {
		old, err := from.node(ino)
		if err != nil {
			return nil, err
		}
		now, err := to.node(ino)
		if err != nil {
			return nil, err
		}
		if !node.Same(old, now) {
			d.Inodes = append(d.Inodes, tree.InodeChange{Ino: ino, Old: node.InfoOf(old), New: node.InfoOf(now)})
		}
	}
	return d, nil
}

// wholeOf returns all of a tree, as what it has more than an empty one.
func wholeOf(v *view) (*tree.Delta, error) {
	d := &tree.Delta{}
	var walk func(dir node.Ino) error
	seen := new(node.InoSet)
	walk = func(dir node.Ino) error {
		if !seen.Add(dir) {
			return node.ErrBelowItself(dir)
		}

		list, err := v.children(dir)
		if err != nil {
			return err
		}
		for _, base := range slices.Sorted(maps.Keys(list)) {
			d.Names = append(d.Names, tree.NameChange{Name: node.Name{Dir: dir, Base: base}, New: list[base]})
			n, err := v.node(list[base])
			if err != nil {
				return err
			}
			if n != nil && n.IsDir() {
				if err := walk(n.Ino); err != nil {
					return err
				}
			}
		}
		return nil
	}

	return d, walk(schema.RootIno)
}

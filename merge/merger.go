package merge

import (
	"cmp"
	"maps"
	"slices"

	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// A merger merges three trees. It knows nothing of branches: what is base, and what the sides, the caller says.
//
// Inodes are compared by id: an inode of the base has its own number, whatever stands for it on the sides.
type merger struct {
	base, ours, theirs *view
	out                *view // ours, with the result laid over it
	prefer             Side
	now                int64 // the ctime of what merges change
	virtual            bool  // the result is a base itself: what conflicts keeps the state of this one's base
	label              [3]string

	byOurs, byTheirs *tree.Delta // from the base to each side; nil: not compared yet
	partly           bool        // byOurs is what differs where theirs touches it

	inOurs, inTheirs map[node.Ino]node.Ino // of an id, the inode that stands for it on a side, where that is another
	ofOurs, ofTheirs map[node.Ino]node.Ino // and back
	oursNeed         map[node.Ino]bool     // directories of ours below which ours has changed something
	moved            []node.Ino            // directories to which theirs gave another place
	thin             []node.Ino            // directories that theirs removed, and that stay for what is below
	lost             []node.Ino            // ids that theirs has lost without rows of their own
	decided          map[node.Ino]bool
	terms            map[node.Ino][]node.Term // what conflicts, by number in the result
}

// A state is an inode on one side: its node, and the names that the root leads to, with the ids of their directories.
// Without names it is not there.
type state struct {
	node  *node.Node
	links []node.Name
}

func (s state) there() bool {
	return s.node != nil && (len(s.links) > 0 || s.node.Ino == schema.RootIno)
}

// newMerger returns a merger of three trees.
func newMerger(base, ours, theirs *view) *merger {
	return &merger{
		base: base, ours: ours, theirs: theirs,
		inOurs: make(map[node.Ino]node.Ino), inTheirs: make(map[node.Ino]node.Ino),
		ofOurs: make(map[node.Ino]node.Ino), ofTheirs: make(map[node.Ino]node.Ino),
		oursNeed: make(map[node.Ino]bool), decided: make(map[node.Ino]bool), terms: make(map[node.Ino][]node.Term),
	}
}

// run merges. Afterwards out has the result, and terms what conflicts.
func (m *merger) run() (err error) {
	if m.byTheirs == nil {
		if m.byTheirs, err = compare(m.base, m.theirs); err != nil {
			return err
		}
	}
	switch {
	case m.base.tx == nil:
		m.byOurs = &tree.Delta{}
	case m.byOurs == nil:
		if m.byOurs, err = compare(m.base, m.ours); err != nil {
			return err
		}
	}

	if m.base.tx != nil && len(m.ours.names) == 0 && len(m.theirs.names) == 0 {
		if !m.partly {
			m.ours.differsFrom(m.base, m.byOurs)
		}
		m.theirs.differsFrom(m.base, m.byTheirs)
		if err := m.base.tx.FindNames(append(touched(m.byOurs, nil), touched(m.byTheirs, nil)...)); err != nil {
			return err
		}
	}

	m.out = m.ours.clone()
	for _, step := range []func() error{m.pair, m.findNeeds, m.decideAll, m.breakCircles, m.thinOut, m.lead, m.count} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func or(ids map[node.Ino]node.Ino, ino node.Ino) node.Ino {
	if other, ok := ids[ino]; ok {
		return other
	}
	return ino
}

// number returns the inode that stands for an id in the result: that of ours if ours has one.
func (m *merger) number(id node.Ino) (node.Ino, error) {
	if ino, ok := m.inOurs[id]; ok {
		return ino, nil
	}
	if _, other := m.inTheirs[id]; !other {
		return id, nil
	}
	n, err := m.ours.node(id)
	if err != nil || n != nil {
		return id, err
	}
	return or(m.inTheirs, id), nil
}

// stateOf returns the state of an inode in a view, whose numbers stand for the ids of.
func stateOf(v *view, ino node.Ino, of map[node.Ino]node.Ino) (s state, err error) {
	if s.node, err = v.node(ino); err != nil || s.node == nil {
		return state{}, err
	}
	links, err := v.links(ino)
	if err != nil {
		return state{}, err
	}
	for _, name := range links {
		s.links = append(s.links, node.Name{Dir: or(of, name.Dir), Base: name.Base})
	}
	slices.SortFunc(s.links, node.Name.Compare)
	if !s.there() {
		return state{}, nil
	}
	return s, nil
}

// states returns the three states of an id.
func (m *merger) states(id node.Ino) (b, o, t state, err error) {
	if b, err = stateOf(m.base, id, nil); err != nil {
		return b, o, t, err
	}
	if o, err = stateOf(m.ours, or(m.inOurs, id), m.ofOurs); err != nil {
		return b, o, t, err
	}
	t, err = stateOf(m.theirs, or(m.inTheirs, id), m.ofTheirs)
	return b, o, t, err
}

// touched returns the ids of the inodes that a side has changed, or whose names it has.
func touched(d *tree.Delta, of map[node.Ino]node.Ino) []node.Ino {
	set := make(map[node.Ino]bool)
	for _, c := range d.Names {
		set[c.Old] = true
		set[or(of, c.New)] = true
	}
	for _, c := range d.Inodes {
		set[or(of, c.Ino)] = true
	}
	delete(set, 0)
	return slices.Sorted(maps.Keys(set))
}

// findNeeds notes the directories of ours below which ours has changed something: if theirs removed one, it stays.
func (m *merger) findNeeds() error {
	need := func(dir node.Ino) error {
		for at := dir; at != schema.RootIno && !m.oursNeed[at]; {
			m.oursNeed[at] = true
			names, err := m.ours.rawNames(at)
			if err != nil || len(names) == 0 {
				return err
			}
			at = names[0].Dir
		}
		return nil
	}

	for _, c := range m.byOurs.Names {
		if ino, err := m.ours.entry(c.Name); err != nil {
			return err
		} else if ino != 0 {
			if err := need(c.Dir); err != nil {
				return err
			}
		}
	}

	// What ours edited needs its directory if theirs removed it.
	for _, id := range touched(m.byOurs, m.ofOurs) {
		b, o, t, err := m.states(id)
		if err != nil {
			return err
		}
		if !o.there() || t.there() || b.there() && !edited(b.node, o.node) {
			continue
		}
		links, err := m.ours.links(o.node.Ino)
		if err != nil {
			return err
		}
		for _, name := range links {
			if err := need(name.Dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// edited reports whether a side has changed an inode, apart from its names and the times that follow from them.
func edited(was, is *node.Node) bool {
	a, b := *was, *is
	a.Ino, a.Nlink, a.Mtime = b.Ino, b.Nlink, b.Mtime
	return !node.Alike(&a, &b)
}

// decideAll decides about each id that theirs changed, and about those that ours changed and theirs removed. Directories
// come first, since what becomes of their entries may follow from them.
func (m *merger) decideAll() error {
	ids, err := m.revived(append(touched(m.byTheirs, m.ofTheirs), m.lost...))
	if err != nil {
		return err
	}
	for _, id := range touched(m.byOurs, m.ofOurs) {
		b, _, t, err := m.states(id)
		if err != nil {
			return err
		}
		if b.there() && !t.there() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)

	var plans []plan
	for _, id := range ids {
		m.decided[id] = true
		p, changed, err := m.decide(id)
		if err != nil {
			return err
		}
		if changed {
			plans = append(plans, p)
		}
	}

	// Names go before others come, so that one that was given up is free. Directories come before what is in them.
	for _, p := range plans {
		if err := m.dropLinks(p); err != nil {
			return err
		}
	}
	slices.SortStableFunc(plans, func(x, y plan) int { return cmp.Compare(x.depth, y.depth) })
	for _, p := range plans {
		if err := m.putLinks(p); err != nil {
			return err
		}
	}
	return nil
}

// revived appends the ids of the entries of directories that theirs has again. If the base has removed a directory as a whole,
// the rows of its entries may be the same in both.
func (m *merger) revived(ids []node.Ino) ([]node.Ino, error) {
	known := make(map[node.Ino]bool)
	for _, id := range ids {
		known[id] = true
	}
	for i := 0; i < len(ids); i++ {
		below, err := m.cameBack(or(m.inTheirs, ids[i]))
		if err != nil {
			return nil, err
		}
		for _, c := range below {
			if id := or(m.ofTheirs, c.New); !known[id] {
				known[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// cameBack returns the entries of a directory of theirs that the base has removed as a whole; none of another one.
func (m *merger) cameBack(dir node.Ino) (entries []tree.NameChange, err error) {
	if n, err := m.base.node(dir); err != nil || n == nil || !n.IsDir() {
		return nil, err
	}
	was, err := stateOf(m.base, dir, nil)
	if err != nil || was.there() {
		return nil, err
	}
	is, err := stateOf(m.theirs, dir, nil)
	if err != nil || !is.there() {
		return nil, err
	}
	list, err := m.theirs.children(dir)
	for _, base := range slices.Sorted(maps.Keys(list)) {
		entries = append(entries, tree.NameChange{Name: node.Name{Dir: dir, Base: base}, New: list[base]})
	}
	return entries, err
}

// count gives the inodes whose names have changed the number of their names.
func (m *merger) count() error {
	inos := make(map[node.Ino]bool)
	for name, ino := range m.out.names {
		was, err := m.ours.lookup(name)
		if err != nil {
			return err
		}
		inos[was], inos[ino] = true, true
	}
	for ino := range m.out.nodes {
		inos[ino] = true
	}
	delete(inos, 0)
	delete(inos, schema.RootIno)

	for _, ino := range slices.Sorted(maps.Keys(inos)) {
		n, err := m.out.node(ino)
		if err != nil || n == nil {
			return cmp.Or(err, error(schema.Corrupt("inode %d is missing in a merge", ino)))
		}
		names, err := m.out.rawNames(ino)
		if err != nil {
			return err
		}
		if n.Nlink != int64(len(names)) {
			counted := *n
			counted.Nlink = int64(len(names))
			m.out.nodes[ino] = &counted
		}
	}
	return m.addTerms()
}

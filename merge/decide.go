package merge

import (
	"slices"

	"vfsdb/node"
)

// A plan is what becomes of an inode whose state is not simply that of ours.
type plan struct {
	id, ino node.Ino    // ino is its number in the result
	links   []node.Name // its names, with the ids of their directories; none: it is removed
	node    *node.Node  // nil: as in ours
	depth   int         // of its place
	revive  bool        // ours removed the directory: what is in it comes back too
}

// decide finds out what becomes of an id. It reports whether there is anything to do.
func (m *merger) decide(id node.Ino) (p plan, changed bool, err error) {
	b, o, t, err := m.states(id)
	if err != nil {
		return p, false, err
	}
	p = plan{id: id}
	if p.ino, err = m.number(id); err != nil {
		return p, false, err
	}
	if t.there() {
		path, err := m.theirs.path(t.node.Ino)
		if err != nil {
			return p, false, err
		}
		p.depth = len(path)
	}

	switch {
	case !t.there() && (!o.there() || !b.there()):
		return p, false, nil // both removed it, or ours made it
	case !t.there():
		return m.removedByTheirs(p, b, o)
	case !o.there() && b.there():
		return m.removedByOurs(p, b, t)
	case !o.there():
		p.links, p.node = t.links, numbered(t.node, p.ino)
		return p, true, nil
	}

	if b.there() && slices.Equal(b.links, t.links) && sameButTimes(b.node, t.node) && b.node.Mtime == t.node.Mtime {
		return p, false, nil
	}
	p.links = m.mergeLinks(p, b, o, t)
	p.node, err = m.mergeNodes(p.ino, b, o, t)
	if o.node.IsDir() && !slices.Equal(p.links, o.links) {
		m.moved = append(m.moved, p.ino)
	}
	return p, true, err
}

// numbered returns a node with another number.
func numbered(n *node.Node, ino node.Ino) *node.Node {
	c := *n
	c.Ino = ino
	return &c
}

// sameButTimes reports whether two nodes are equal but for times, numbers and rows.
func sameButTimes(a, b *node.Node) bool {
	x := *a
	x.Ino, x.Level, x.Born, x.Nlink = b.Ino, b.Level, b.Born, b.Nlink
	x.Mtime, x.Ctime, x.Btime = b.Mtime, b.Ctime, b.Btime
	return x == *b
}

// removedByTheirs decides about what theirs has removed, and ours still has.
func (m *merger) removedByTheirs(p plan, b, o state) (plan, bool, error) {
	moved := !slices.Equal(b.links, o.links)
	changed := moved || !o.node.IsDir() && edited(b.node, o.node)
	switch {
	case o.node.IsDir() && !moved && m.oursNeed[o.node.Ino]:
		m.thin = append(m.thin, o.node.Ino)
		return p, false, nil
	case !changed:
		kept, err := m.keptByRename(b)
		return p, !kept, err
	case m.prefer == Theirs && !o.node.IsDir():
		return p, true, nil
	}

	// The edit stays. Names that ours added to others stay without them.
	p.links = minus(o.links, b.links)
	if len(p.links) == 0 {
		p.links = o.links
	}
	if m.prefer != Ours || o.node.IsDir() {
		m.conflict(p.ino, m.termOf(node.Base, node.Place, b), m.termOf(node.Theirs, node.Place, state{}))
	}
	return p, true, nil
}

// keptByRename reports whether what theirs removed stays with the directory above it, which theirs removed too, and which
// ours has moved.
func (m *merger) keptByRename(b state) (bool, error) {
	for range maxDepth {
		if len(b.links) == 0 {
			return false, nil
		}
		above, o, t, err := m.states(b.links[0].Dir)
		if err != nil || !above.there() || !o.there() || t.there() {
			return false, err
		}
		if !slices.Equal(above.links, o.links) {
			return true, nil
		}
		b = above
	}
	return false, nil
}

// maxDepth bounds the directories above a path of the longest length.
const maxDepth = node.MaxPath

// removedByOurs decides about what ours has removed, and theirs still has. A directory that theirs has not moved comes
// back only if something in it does.
func (m *merger) removedByOurs(p plan, b, t state) (plan, bool, error) {
	moved := !slices.Equal(b.links, t.links)
	switch {
	case !moved && (t.node.IsDir() || !edited(b.node, t.node)):
		return p, false, nil
	case m.prefer == Ours && !t.node.IsDir():
		return p, false, nil
	}

	p.links = minus(t.links, b.links)
	if len(p.links) == 0 {
		p.links = t.links
	}
	p.node, p.revive = numbered(t.node, p.ino), t.node.IsDir()
	m.terms[p.ino] = t.node.Conflict.Terms()
	if m.prefer != Theirs || t.node.IsDir() {
		removed := m.termOf(node.Ours, node.Place, state{})
		removed.Label = m.label[Theirs] // of the file, which has no label of its own
		m.conflict(p.ino, m.termOf(node.Base, node.Place, b), removed)
	}
	return p, true, nil
}

// mergeLinks merges the names of an inode as sets. If both sides renamed it, the name that ours gave it stays. If none would be
// left, since each side removed some, those of ours stay.
func (m *merger) mergeLinks(p plan, b, o, t state) []node.Name {
	gone := minus(b.links, t.links)
	byTheirs, byOurs := minus(minus(t.links, b.links), o.links), minus(minus(o.links, b.links), t.links)

	twice := min(len(gone)-len(minus(gone, minus(b.links, o.links))), len(byTheirs), len(byOurs))
	if o.node.IsDir() && len(byTheirs) > 0 && (len(byOurs) > 0 || !b.there()) {
		twice = len(byTheirs)
	}
	links := append(minus(o.links, gone), byTheirs[twice:]...)
	none := len(links) == 0 && len(o.links) > 0 // the root has none anyway
	if none {
		links = o.links
	}
	if twice > 0 || none {
		m.conflict(p.ino, m.termOf(node.Base, node.Place, b), m.termOf(node.Theirs, node.Place, t))
	}
	return links
}

// minus returns the names of a that b does not have.
func minus(a, b []node.Name) []node.Name {
	has := func(name node.Name) bool { return slices.Contains(b, name) }
	if len(b) > 16 { // a file may have thousands of names
		set := make(map[node.Name]bool, len(b))
		for _, name := range b {
			set[name] = true
		}
		has = func(name node.Name) bool { return set[name] }
	}
	return slices.DeleteFunc(slices.Clone(a), has)
}

// termOf returns the state of a side as a term.
func (m *merger) termOf(side node.Side, registers node.Registers, s state) node.Term {
	t := node.Term{Side: side, Registers: registers, Label: m.label[side]}
	if !s.there() {
		return t
	}
	n := s.node
	t.Mode, t.Uid, t.Gid, t.Rdev, t.Mtime = n.Mode, n.Uid, n.Gid, n.Rdev, n.Mtime
	t.Content, t.Target, t.Xattrs = n.Content, n.Target, n.Xattrs
	if len(s.links) > 0 && registers&node.Place != 0 {
		t.Name = s.links[0]
		if dir, err := m.number(t.Name.Dir); err == nil {
			t.Name.Dir = dir
		}
	}
	return t
}

// conflict adds terms to what conflicts about an inode of the result.
func (m *merger) conflict(ino node.Ino, terms ...node.Term) {
	if m.virtual {
		return
	}
	list, known := m.terms[ino]
	if !known {
		if n, err := m.out.node(ino); err == nil && n != nil {
			list = n.Conflict.Terms()
		}
	}
	for _, t := range terms {
		list = addTerm(list, t)
	}
	m.terms[ino] = list
}

// addTerm adds a term to a list. A state that is there counts for more registers then.
func addTerm(list []node.Term, t node.Term) []node.Term {
	for i, have := range list {
		have.Registers = t.Registers
		if have == t && list[i].Registers&t.Registers == 0 {
			list[i].Registers |= t.Registers
			return list
		}
	}
	return append(list, t)
}

// addTerms gives the inodes of the result their conflicts.
func (m *merger) addTerms() error {
	for ino, terms := range m.terms {
		n, err := m.out.node(ino)
		if err != nil {
			return err
		}
		if n == nil {
			continue
		}
		if c := node.NewConflict(terms); c != n.Conflict && n.Nlink > 0 {
			changed := *n
			changed.Conflict = c
			m.out.nodes[ino] = &changed
		}
	}
	return nil
}

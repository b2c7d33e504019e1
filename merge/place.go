package merge

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"vfsdb/node"
	"vfsdb/schema"
)

// inResult returns a name with the number of its directory in the result.
func (m *merger) inResult(name node.Name) (node.Name, error) {
	dir, err := m.number(name.Dir)
	return node.Name{Dir: dir, Base: name.Base}, err
}

func (m *merger) allInResult(names []node.Name) (list []node.Name, err error) {
	for _, name := range names {
		if name, err = m.inResult(name); err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, nil
}

// dropLinks takes away the names that an inode is not to have, those below removed directories too.
func (m *merger) dropLinks(p plan) error {
	wanted, err := m.allInResult(p.links)
	if err != nil {
		return err
	}
	names, err := m.out.rawNames(p.ino)
	if err != nil {
		return err
	}
	for _, name := range minus(names, wanted) {
		if err := m.out.put(name, 0); err != nil {
			return err
		}
	}
	return nil
}

// putLinks gives an inode its state and its names.
func (m *merger) putLinks(p plan) error {
	if p.node != nil {
		m.out.nodes[p.ino] = p.node
		if p.node.IsDir() {
			if err := m.clear(p.ino); err != nil {
				return err
			}
		}
	}

	// Only names that it does not have yet are looked up.
	wanted, err := m.allInResult(p.links)
	if err != nil {
		return err
	}
	for _, name := range wanted {
		if err := m.clear(name.Dir); err != nil {
			return err
		}
	}
	have, err := m.out.rawNames(p.ino)
	if err != nil {
		return err
	}
	for _, name := range minus(wanted, have) {
		if err := m.putLink(name, p.ino); err != nil {
			return err
		}
	}
	if !p.revive {
		return nil
	}
	return m.reviveBelow(or(m.inTheirs, p.id))
}

// putLink lets a name show an inode. If ours has another inode there, that keeps the name, and this one gets a name
// beside it.
func (m *merger) putLink(name node.Name, ino node.Ino) error {
	if err := m.clear(name.Dir); err != nil {
		return err
	}
	at, err := m.out.lookup(name)
	if err != nil || at == ino {
		return err
	}
	if at == 0 {
		return m.out.put(name, ino)
	}

	beside, err := m.freeName(name)
	if err != nil {
		return err
	}
	if err := m.out.put(beside, ino); err != nil {
		return err
	}
	n, err := m.out.node(ino)
	if err != nil || n == nil {
		return err
	}
	was, err := stateOf(m.base, or(m.ofOurs, at), nil)
	if err != nil {
		return err
	}
	before, kept := m.termOf(node.Base, node.Bytes, was), m.termOf(node.Theirs, node.Bytes, state{node: n, links: []node.Name{beside}})
	before.Name, kept.Name = beside, beside
	m.conflict(at, before, kept)
	return nil
}

// freeName returns a name beside another that nothing has.
func (m *merger) freeName(name node.Name) (node.Name, error) {
	for i := 1; ; i++ {
		tail := "~" + strings.ReplaceAll(m.label[node.Theirs], "/", "-")
		if i > 1 {
			tail += "." + strconv.Itoa(i)
		}
		tail = tail[:min(len(tail), node.MaxName/2)]
		free := node.Name{Dir: name.Dir, Base: name.Base[:min(len(name.Base), node.MaxName-len(tail))] + tail}
		if i > 1 && !strings.HasSuffix(tail, strconv.Itoa(i)) { // the label has no room for a number
			free.Base = name.Base[:min(len(name.Base), node.MaxName/2)] + "~" + strconv.Itoa(i)
		}
		at, err := m.out.lookup(free)
		if err != nil || at == 0 {
			return free, err
		}
	}
}

// clear takes away the entries of a directory that ours has removed: rows of them may be left.
func (m *merger) clear(dir node.Ino) error {
	leads, err := m.ours.leads(dir)
	if err != nil || leads {
		return err
	}
	list, err := m.ours.children(dir)
	if err != nil {
		return err
	}
	for _, base := range slices.Sorted(maps.Keys(list)) {
		name := node.Name{Dir: dir, Base: base}
		if _, known := m.out.names[name]; known {
			continue
		}
		if err := m.out.put(name, 0); err != nil {
			return err
		}
	}
	return nil
}

// reviveBelow brings back what is in a directory of theirs, apart from what is decided about by itself.
func (m *merger) reviveBelow(dir node.Ino) error {
	list, err := m.theirs.children(dir)
	if err != nil {
		return err
	}
	for _, base := range slices.Sorted(maps.Keys(list)) {
		id := or(m.ofTheirs, list[base])
		_, o, t, err := m.states(id)
		if err != nil {
			return err
		}
		if m.decided[id] || o.there() || !t.there() {
			continue
		}

		m.decided[id] = true
		p := plan{id: id, links: t.links, revive: t.node.IsDir()}
		if p.ino, err = m.number(id); err != nil {
			return err
		}
		p.node = numbered(t.node, p.ino)
		if err := m.dropLinks(p); err != nil {
			return err
		}
		if err := m.putLinks(p); err != nil {
			return err
		}
	}
	return nil
}

// breakCircles undoes those moves of theirs that put a directory below itself, since ours has moved another into it.
func (m *merger) breakCircles() error {
	for _, dir := range m.moved {
		circle, err := m.inCircle(dir)
		if err != nil {
			return err
		}
		if !circle {
			continue
		}

		b, o, t, err := m.states(m.idOf(dir))
		if err != nil {
			return err
		}
		if err := m.dropLinks(plan{ino: dir}); err != nil {
			return err
		}
		for _, name := range o.links {
			if name, err = m.inResult(name); err != nil {
				return err
			}
			if err := m.putLink(name, dir); err != nil {
				return err
			}
		}
		m.conflict(dir, m.termOf(node.Base, node.Place, b), m.termOf(node.Theirs, node.Place, t))
	}
	return nil
}

// inCircle reports whether the way up from a directory of the result comes back to it.
func (m *merger) inCircle(dir node.Ino) (bool, error) {
	seen := new(node.InoSet)
	for at := dir; seen.Add(at); {
		names, err := m.out.rawNames(at)
		if err != nil || len(names) == 0 {
			return false, err
		}
		if at = names[0].Dir; at == dir {
			return true, nil
		}
	}
	return false, nil
}

// idOf returns the id of an inode of the result.
func (m *merger) idOf(ino node.Ino) node.Ino {
	if id, ok := m.ofOurs[ino]; ok {
		return id
	}
	return or(m.ofTheirs, ino)
}

// thinOut removes what ours has not changed from the directories that theirs removed, and that stay.
func (m *merger) thinOut() error {
	for _, dir := range m.thin {
		if err := m.thinBelow(dir); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) thinBelow(dir node.Ino) error {
	list, err := m.ours.children(dir)
	if err != nil {
		return err
	}
	for _, base := range slices.Sorted(maps.Keys(list)) {
		name, id := node.Name{Dir: dir, Base: base}, or(m.ofOurs, list[base])
		at, err := m.out.lookup(name)
		if err != nil {
			return err
		}
		if m.decided[id] || at != list[base] {
			continue
		}

		b, _, t, err := m.states(id)
		if err != nil {
			return err
		}
		n, err := m.ours.node(list[base])
		switch {
		case err != nil:
			return err
		case !b.there(): // ours made it
		case t.there():
		case n.IsDir() && m.oursNeed[n.Ino]:
			err = m.thinBelow(n.Ino)
		default:
			err = m.out.put(name, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lead brings back the directories that an entry of the result needs, and that one side removed.
func (m *merger) lead() error {
	names := slices.SortedFunc(maps.Keys(m.out.names), node.Name.Compare)
	for _, name := range names {
		ino := m.out.names[name]
		if ino == 0 {
			continue
		}
		leads, err := m.out.leads(name.Dir)
		if err != nil {
			return err
		}
		if leads {
			continue
		}
		if err := m.bringBack(name.Dir); err != nil {
			return err
		}
	}
	return nil
}

// bringBack gives a directory a name again, and those above it, up to one that the root leads to.
func (m *merger) bringBack(dir node.Ino) error {
	seen := new(node.InoSet)
	for at := dir; ; {
		leads, err := m.out.leads(at)
		if err != nil || leads {
			return err
		}
		circle := !seen.Add(at)

		// Names that are left below directories which ours removed do not count.
		names, err := m.out.rawNames(at)
		if err != nil {
			return err
		}
		for _, name := range names {
			_, put := m.out.names[name]
			there, err := m.ours.leads(name.Dir)
			if err == nil && (circle || !put && !there) {
				err = m.out.put(name, 0)
			}
			if err != nil {
				return err
			}
		}

		if names, err = m.out.rawNames(at); err != nil {
			return err
		}
		if len(names) == 0 {
			if names, err = m.placeAgain(at, circle); err != nil {
				return err
			}
		}
		at = names[0].Dir
	}
}

// placeAgain gives a directory the name that theirs, ours or the base has for it, and returns it. If the directories above
// lie in a circle, as when ours moved one into another and removed that, it comes to stand in the root.
func (m *merger) placeAgain(dir node.Ino, circle bool) ([]node.Name, error) {
	b, o, t, err := m.states(m.idOf(dir))
	if err != nil {
		return nil, err
	}
	for _, s := range []state{t, o, b} {
		if !s.there() || len(s.links) == 0 {
			continue
		}
		if !o.there() {
			m.out.nodes[dir] = numbered(s.node, dir)
			if err := m.clear(dir); err != nil {
				return nil, err
			}
		}

		name, err := m.inResult(s.links[0])
		if err != nil {
			return nil, err
		}
		if circle {
			name.Dir = schema.RootIno
		}
		if err := m.putLink(name, dir); err != nil {
			return nil, err
		}
		break
	}

	names, err := m.out.rawNames(dir)
	if err == nil && len(names) == 0 {
		err = schema.Corrupt("directory %d has no place in a merge", dir)
	}
	return names, err
}

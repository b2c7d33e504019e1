package apply

import (
	"path"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/transfer/hostdir"
	"vfsdb/tree"
)

// An oursMaker makes of a fork of the base a tree that shows what the directory has. Where the directory is as the branch has
// it, the tree stays as the base is: that is no change to merge. So an apply that was interrupted is only continued.
type oursMaker struct {
	*applier
	tx     *tree.Tx
	linked map[node.Ino]hostdir.ID // files of the host that stand for those with several names
	arrived
}

// arrived are the places where the directory has what the branch has there: by its inode, and by the content of a new file.
type arrived struct {
	inos     map[node.Ino]bool
	contents map[chunk.Content]bool
}

func (m *oursMaker) run() error {
	m.at["."].ino = m.tx.Root()
	if err := m.arrive(); err != nil {
		return err
	}
	for _, p := range m.places {
		if err := m.put(p); err != nil {
			return err
		}
	}
	return nil
}

// arrive stores what was read of the directory, and finds out what has arrived there.
func (m *oursMaker) arrive() (err error) {
	m.arrived = arrived{make(map[node.Ino]bool), make(map[chunk.Content]bool)}
	for _, p := range m.places {
		if p.fault != nil || p.host == nil {
			continue
		}
		if p.read != nil {
			if p.host.Content, err = p.read.Commit(m.tx.DB()); err != nil {
				return err
			}
		}
		if !p.alike(p.theirs) {
			continue
		}
		m.inos[p.theirs.Ino] = true
		if p.base == nil && p.theirs.Content.Size > 0 {
			m.contents[p.theirs.Content] = true
		}
	}
	return nil
}

// moved reports whether a place is empty because an apply that was interrupted has renamed what the base has there. Where
// somebody has removed a file that the branch renamed, its new name is missing too, and that is a conflict.
func (a *arrived) moved(p *place) bool {
	if p.host != nil || p.theirs != nil || p.base == nil {
		return false
	}
	return a.inos[p.base.Ino] || a.contents[p.base.Content]
}

// put gives one place what the directory has.
func (m *oursMaker) put(p *place) error {
	there, err := m.lookup(p)
	if err != nil {
		return err
	}
	if there != nil {
		p.ino = there.Ino
	}

	switch {
	case p.fault != nil || m.moved(p):
		return nil
	case p.host == nil:
		return m.drop(p, there)
	}
	if p.alike(p.theirs) {
		return nil
	}

	// The same file was changed, or another one has its name.
	if there != nil && there.Kind() == p.host.Kind() && !m.splits(p, there) {
		return m.change(p, there)
	}
	if err := m.drop(p, there); err != nil {
		return err
	}
	return m.create(p)
}

// lookup returns the node that ours has in a place, or nil.
func (m *oursMaker) lookup(p *place) (*node.Node, error) {
	ino := p.ino
	if p.path != "." {
		above := m.at[dirOf(p.path)]
		if above.ino == 0 {
			return nil, nil
		}
		d, err := m.tx.Lookup(above.ino, path.Base(p.path))
		if err != nil || d.Ino == 0 {
			return nil, err
		}
		ino = d.Ino
	}
	n, err := m.tx.Node(ino)
	if err != nil || n == nil {
		return nil, err
	}
	copied := *n
	return &copied, nil
}

// alike reports whether the directory has what a tree has: the same content and permissions, or a directory too.
func (p *place) alike(n *node.Node) bool {
	h := p.host
	if n == nil || n.Kind() != h.Kind() {
		return false
	}
	if n.IsDir() {
		return true
	}
	same := n.Content == h.Content && n.Target == h.Target && n.Rdev == h.Rdev && n.Mode == h.Mode
	return same && (!p.known || n.Xattrs == h.Xattrs)
}

// splits reports whether the names of a file that has several in the base are of several files in the directory.
func (m *oursMaker) splits(p *place, there *node.Node) bool {
	if there.IsDir() || there.Nlink < 2 {
		return false
	}
	first, seen := m.linked[there.Ino]
	if !seen {
		m.linked[there.Ino] = p.state.ID
		return false
	}
	return first != p.state.ID
}

// change gives a file the content and the attributes that the directory has. The time of a directory follows from its entries.
func (m *oursMaker) change(p *place, there *node.Node) error {
	next := *there
	next.Content, next.Target, next.Rdev = p.host.Content, p.host.Target, p.host.Rdev
	p.attributes(&next)
	if next == *there {
		return nil
	}
	return m.tx.PutNodes(&next)
}

// attributes gives a node the attributes that the directory has.
func (p *place) attributes(n *node.Node) {
	n.Mode, n.Uid, n.Gid = p.host.Mode, p.host.Uid, p.host.Gid
	if !n.IsDir() {
		n.Mtime = p.host.Mtime
	}
	if p.known {
		n.Xattrs = p.host.Xattrs
	}
}

// drop removes a file, and with a directory all below it.
func (m *oursMaker) drop(p *place, there *node.Node) error {
	p.ino = 0
	switch {
	case there == nil:
		return nil
	case there.IsDir():
		return m.tx.RemoveTree(m.placeOf(p))
	}
	return m.tx.Unlink(m.placeOf(p))
}

// create makes a file that the base does not have, with the directories above it.
func (m *oursMaker) create(p *place) error {
	if above := m.at[dirOf(p.path)]; above.ino == 0 {
		if err := m.create(above); err != nil {
			return err
		}
	}
	made := m.tx.NewNode(p.host.Mode)
	made.Content, made.Target, made.Rdev = p.host.Content, p.host.Target, p.host.Rdev
	p.attributes(made)
	var sum chunk.Sum
	if p.read != nil {
		sum = p.read.Sum()
	}
	if err := m.tx.Create(m.placeOf(p), made, sum); err != nil {
		return err
	}
	p.ino = made.Ino
	return nil
}

func (m *oursMaker) placeOf(p *place) tree.Place {
	return tree.Place{Dir: m.at[dirOf(p.path)].ino, Base: path.Base(p.path), Path: p.path}
}

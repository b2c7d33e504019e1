package snapshot

import (
	"maps"
	"slices"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A ChangeLog records a change of many rows, as a restore is: it finds out which paths change, those that the entries and
// inodes have before, and have after.
type ChangeLog struct {
	tx    *tree.Tx
	op    journal.Op
	names []node.Name // that show something else afterwards
	inos  []node.Ino  // that are something else
	nodes map[node.Ino]tree.InodeChange
	sums  map[chunk.Content]chunk.Sum // of these, as far as they have one chunk
	made  map[string]*restored
	after bool
	moved map[node.Ino]bool // shown by names that change
	dirs  tree.PathFinder
	shown map[node.Ino][]node.Name // names of inos, as they were before

	alike map[node.Ino]bool // of inos: only times and the number of names differ
	noted map[node.Ino]bool // inodes that the record of an entry names
}

// NewChangeLog looks at the head before what delta has is changed there. After the change [ChangeLog.Record] adds it to
// the log, as an event of that op for each path.
func NewChangeLog(tx *tree.Tx, op journal.Op, delta *tree.Delta) (*ChangeLog, error) {
	l := &ChangeLog{
		tx: tx, op: op, made: make(map[string]*restored), moved: make(map[node.Ino]bool),
		dirs: tx.PathFinder(), shown: make(map[node.Ino][]node.Name),
		nodes: make(map[node.Ino]tree.InodeChange), alike: make(map[node.Ino]bool), noted: make(map[node.Ino]bool),
	}

	var inos []node.Ino // that paths lead to or through
	for _, c := range delta.Names {
		inos = append(inos, c.Dir)
		l.names = append(l.names, c.Name)
		l.moved[c.Old], l.moved[c.New] = true, true
	}
	var contents []chunk.Content
	for _, c := range delta.Inodes {
		l.nodes[c.Ino] = c
		for _, info := range []*vfs.Info{c.Old, c.New} {
			if info != nil {
				contents = append(contents, node.NodeOf(info).Content)
			}
		}
		if c.Old != nil && c.New != nil {
			inos, l.inos = append(inos, c.Ino), append(l.inos, c.Ino)
			l.alike[c.Ino] = node.Alike(node.NodeOf(c.Old), node.NodeOf(c.New))
		}
	}
	if err := tx.FindNames(inos); err != nil {
		return nil, err
	}
	var err error
	if l.sums, err = chunk.SumsOf(tx.DB(), contents); err != nil {
		return nil, err
	}
	return l, l.look()
}

// restored is what a path showed before and after.
type restored struct{ before, after restoredSide }

// A restoredSide is what a path showed: an inode with the sum and size of its content, through an entry of a directory.
type restoredSide struct {
	sum   chunk.Sum
	size  int64
	ino   node.Ino
	dir   node.Ino // if the entry shows something else on the other side
	alike bool     // the inode is only alike on the other side
}

// Record looks again, and records what differs.
func (l *ChangeLog) Record() error {
	l.after = true
	l.dirs = l.tx.PathFinder() // directories may have moved
	if err := l.look(); err != nil {
		return err
	}

	// An inode that is alike needs no record of its own if that of an entry names it.
	for _, path := range slices.Sorted(maps.Keys(l.made)) {
		p := l.made[path]
		for _, side := range []*restoredSide{&p.before, &p.after} {
			if side.alike && l.noted[side.ino] {
				*side = restoredSide{}
			}
		}
		if p.before.ino == 0 && p.after.ino == 0 {
			continue
		}

		if err := l.tx.RecordChange(p.change(l.op, path)); err != nil {
			return err
		}
	}
	return nil
}

// change returns what to record of a path.
func (p *restored) change(op journal.Op, path string) journal.Change {
	c := journal.Change{
		Op: op, Path: path, Before: p.before.sum, After: p.after.sum, Grew: p.after.size - p.before.size,
		Ino: p.after.ino, Dir: p.after.dir,
	}

	// The path may have shown another inode before, in another directory.
	switch p.before.ino {
	case 0, p.after.ino:
	default:
		c.Displaced = p.before.ino
	}
	if p.before.dir != p.after.dir {
		c.ArgDir = p.before.dir
	}

	// What went has no other side.
	if c.Ino == 0 {
		c.Ino, c.Displaced = c.Displaced, 0
	}
	if c.Dir == 0 {
		c.Dir, c.ArgDir = c.ArgDir, 0
	}
	return c
}

// look adds the paths as they are now.
func (l *ChangeLog) look() error {
	for _, name := range l.names {
		d, err := l.tx.Lookup(name.Dir, name.Base)
		if err != nil {
			return err
		}
		if d.Ino != 0 {
			if err := l.add(name, restoredSide{ino: d.Ino, dir: name.Dir}); err != nil {
				return err
			}
		}
	}

	for _, ino := range l.inos {
		if l.alike[ino] && l.noted[ino] {
			continue
		}
		names, err := l.namesOf(ino)
		if err != nil {
			return err
		}
		if ino == l.tx.Root() {
			l.note(".", restoredSide{ino: ino, alike: l.alike[ino]})
		}
		for _, name := range names {
			if err := l.add(name, restoredSide{ino: ino, alike: l.alike[ino]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// add notes what a name shows, if a path leads there.
func (l *ChangeLog) add(name node.Name, side restoredSide) error {
	dir, err := l.dirs.Path(name.Dir)
	if err != nil || dir == "" {
		return err
	}
	n, err := l.node(side.ino)
	if err != nil || n == nil {
		return err
	}
	sum, known := l.sums[n.Content]
	if !known || n.Kind() != node.KindFile {
		if sum, err = l.tx.SumOf(n); err != nil {
			return err
		}
	}
	side.sum = sum
	side.size = n.Content.Size
	l.note(node.JoinPath(dir, name.Base), side)
	return nil
}

// node returns an inode as it is now.
func (l *ChangeLog) node(ino node.Ino) (*node.Node, error) {
	c, changes := l.nodes[ino]
	info := c.Old
	if l.after {
		info = c.New
	}
	switch {
	case !changes:
		return l.tx.Node(ino)
	case info == nil:
		return nil, nil
	}
	return node.NodeOf(info), nil
}

// namesOf returns the names of an inode. Those of one that no changed name shows are the same before and after.
func (l *ChangeLog) namesOf(ino node.Ino) ([]node.Name, error) {
	if l.after && !l.moved[ino] {
		return l.shown[ino], nil
	}
	names, err := l.tx.NamesOf(ino)
	l.shown[ino] = names
	return names, err
}

// note notes what a path shows.
func (l *ChangeLog) note(path string, side restoredSide) {
	p := l.made[path]
	if p == nil {
		p = &restored{}
		l.made[path] = p
	}

	at := &p.before
	if l.after {
		at = &p.after
	}
	if side.dir == 0 && at.dir != 0 {
		return // its entry was noted
	}
	*at = side

	if side.dir != 0 {
		l.noted[side.dir], l.noted[side.ino] = true, true
	}
}

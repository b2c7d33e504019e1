package tree

import (
	"maps"
	"slices"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
)

// A restoreLog finds out which paths a restore changes: those that its entries and inodes have before, and have after.
type restoreLog struct {
	tx    *Tx
	names []node.Name // that show something else afterwards
	inos  []node.Ino  // that are something else
	made  map[string]*restored
	after bool
	moved map[node.Ino]bool // shown by names that change
	turns bool              // some of these are directories: paths below them change
	dirs  PathFinder
	shown map[node.Ino][]node.Name // names of inos, as they were before
}

func newRestoreLog(tx *Tx) *restoreLog {
	return &restoreLog{
		tx: tx, made: make(map[string]*restored), moved: make(map[node.Ino]bool),
		dirs: PathFinder{tx, schema.RootIno, make(map[node.Ino]string)}, shown: make(map[node.Ino][]node.Name),
	}
}

// restored is what a path showed before and after: sums and sizes of content.
type restored struct {
	before, after chunk.Sum
	was, is       int64
}

// begin looks at the tree as it is before, when the keys in which it differs from src are known.
func (l *restoreLog) begin(src *Tx, names []node.Name, inos []node.Ino) error {
	for _, name := range names {
		have, err := l.tx.Lookup(name.Dir, name.Base)
		if err != nil {
			return err
		}
		want, err := src.Lookup(name.Dir, name.Base)
		if err != nil {
			return err
		}
		if have.Ino != want.Ino {
			l.names = append(l.names, name)
			l.moved[have.Ino], l.moved[want.Ino] = true, true
			l.turns = l.turns || have.Kind == node.KindDir || want.Kind == node.KindDir
		}
	}

	for _, ino := range inos {
		have, err := l.tx.Node(ino)
		if err != nil {
			return err
		}
		want, err := src.Node(ino)
		if err != nil {
			return err
		}
		if have != nil && want != nil && !node.Alike(have, want) {
			l.inos = append(l.inos, ino)
		}
	}
	return l.look()
}

// end looks again, and records what differs.
func (l *restoreLog) end() error {
	l.after = true
	if l.turns {
		clear(l.dirs.known)
	}
	if err := l.look(); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(l.made)) {
		p := l.made[path]
		if err := l.tx.record(change{Change: journal.Change{Op: "restore", Path: path, Before: p.before, After: p.after, Grew: p.is - p.was}}); err != nil {
			return err
		}
	}
	return nil
}

// look adds the paths as they are now.
func (l *restoreLog) look() error {
	for _, name := range l.names {
		d, err := l.tx.Lookup(name.Dir, name.Base)
		if err != nil {
			return err
		}
		if d.Ino != 0 {
			if err := l.add(name, d.Ino); err != nil {
				return err
			}
		}
	}

	for _, ino := range l.inos {
		names, err := l.namesOf(ino)
		if err != nil {
			return err
		}
		if ino == l.tx.fsys.root {
			l.note(".")
		}
		for _, name := range names {
			if err := l.add(name, ino); err != nil {
				return err
			}
		}
	}
	return nil
}

// add notes that a name shows ino.
func (l *restoreLog) add(name node.Name, ino node.Ino) error {
	dir, err := l.dirs.Path(name.Dir)
	if err != nil || dir == "" {
		return err
	}
	n, err := l.tx.Node(ino)
	if err != nil || n == nil {
		return err
	}
	sum, err := l.tx.SumOf(n)
	if err != nil {
		return err
	}
	p := l.note(node.JoinPath(dir, name.Base))
	if l.after {
		p.after, p.is = sum, n.Content.Size
	} else {
		p.before, p.was = sum, n.Content.Size
	}
	return nil
}

// namesOf returns the names of an inode. Those of one that no changed name shows are the same before and after.
func (l *restoreLog) namesOf(ino node.Ino) ([]node.Name, error) {
	if l.after && !l.moved[ino] {
		return l.shown[ino], nil
	}
	names, err := l.tx.namesOf(ino)
	l.shown[ino] = names
	return names, err
}

// note returns what is known of a path.
func (l *restoreLog) note(path string) *restored {
	p := l.made[path]
	if p == nil {
		p = &restored{}
		l.made[path] = p
	}
	return p
}

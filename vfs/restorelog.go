package vfs

import (
	"maps"
	"slices"

	"vfsdb/journal"
	"vfsdb/schema"
)

// A restoreLog finds out which paths a restore changes: those that its entries and inodes have before, and have after.
type restoreLog struct {
	tx    *Tx
	names []Name // that show something else afterwards
	inos  []Ino  // that are something else
	made  map[string]*restored
	after bool
	moved map[Ino]bool // shown by names that change
	turns bool         // some of these are directories: paths below them change
	dirs  pathFinder
	shown map[Ino][]Name // names of inos, as they were before
}

func newRestoreLog(tx *Tx) *restoreLog {
	return &restoreLog{
		tx: tx, made: make(map[string]*restored), moved: make(map[Ino]bool),
		dirs: pathFinder{tx, schema.RootIno, make(map[Ino]string)}, shown: make(map[Ino][]Name),
	}
}

// restored is what a path showed before and after: sums and sizes of content.
type restored struct {
	before, after Sum
	was, is       int64
}

// begin looks at the tree as it is before, when the keys in which it differs from src are known.
func (l *restoreLog) begin(src *Tx, names []Name, inos []Ino) error {
	for _, name := range names {
		have, err := l.tx.lookup(name.Dir, name.Base)
		if err != nil {
			return err
		}
		want, err := src.lookup(name.Dir, name.Base)
		if err != nil {
			return err
		}
		if have.ino != want.ino {
			l.names = append(l.names, name)
			l.moved[have.ino], l.moved[want.ino] = true, true
			l.turns = l.turns || have.kind == kindDir || want.kind == kindDir
		}
	}
	for _, ino := range inos {
		have, err := l.tx.inode(ino)
		if err != nil {
			return err
		}
		want, err := src.inode(ino)
		if err != nil {
			return err
		}
		if have != nil && want != nil && !alike(have, want) {
			l.inos = append(l.inos, ino)
		}
	}
	return l.look()
}

// alike reports whether two states of an inode are the same to whoever reads a path: the times of a directory follow
// from its entries, and the number of names from those.
func alike(a, b *inode) bool {
	same := a.mode == b.mode && a.uid == b.uid && a.gid == b.gid && a.rdev == b.rdev && a.content == b.content && a.target == b.target
	return same && (a.isDir() || a.mtime == b.mtime)
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
		d, err := l.tx.lookup(name.Dir, name.Base)
		if err != nil {
			return err
		}
		if d.ino != 0 {
			if err := l.add(name, d.ino); err != nil {
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
func (l *restoreLog) add(name Name, ino Ino) error {
	dir, err := l.dirs.path(name.Dir)
	if err != nil || dir == "" {
		return err
	}
	n, err := l.tx.inode(ino)
	if err != nil || n == nil {
		return err
	}
	sum, err := l.tx.sumOf(n)
	if err != nil {
		return err
	}
	p := l.note(join(dir, name.Base))
	if l.after {
		p.after, p.is = sum, n.content.Size
	} else {
		p.before, p.was = sum, n.content.Size
	}
	return nil
}

// namesOf returns the names of an inode. Those of one that no changed name shows are the same before and after.
func (l *restoreLog) namesOf(ino Ino) ([]Name, error) {
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

package vfs

// No directory lies below itself, and each has one name. A damaged row can contradict that. Code that follows such a row
// down, or up, would not end: the types in this file notice.

// errBelowItself names a directory that a path leads through twice.
func errBelowItself(dir Ino) error { return corrupt("directory %d lies below itself", dir) }

// A circle notices that a climb has come to a directory twice. It remembers one directory of those that the climb has
// passed, and a later one after twice as many steps. In a circle the climb passes that one again.
type circle struct {
	mark       Ino
	steps, end int // at end, the mark moves
}

// to is called with each directory on the way.
func (c *circle) to(dir Ino) error {
	if c.steps > 0 && dir == c.mark {
		return errBelowItself(dir)
	}
	if c.steps == c.end {
		c.mark, c.end = dir, 2*c.end+1
	}
	c.steps++
	return nil
}

// An entered is the set of directories that a search has gone into, a bit for each number.
type entered struct {
	pages        map[Ino]*[enteredPage / 64]uint64
	first, again int // how many calls of add were the first for their directory, and how many were not
}

const enteredPage = 4096

// add reports whether a directory is new.
func (e *entered) add(dir Ino) bool {
	if e.pages == nil {
		e.pages = make(map[Ino]*[enteredPage / 64]uint64)
	}
	page, bit := dir/enteredPage, uint64(dir)%enteredPage
	bits := e.pages[page]
	if bits == nil {
		bits = new([enteredPage / 64]uint64)
		e.pages[page] = bits
	}

	if bits[bit/64]>>(bit%64)&1 == 1 {
		e.again++
		return false
	}
	e.first++
	bits[bit/64] |= 1 << (bit % 64)
	return true
}

// oneName fails if a directory has several names. The index of names is compared with the entries: a directory can be
// listed without that index, and so where it is damaged too.
func (tx *Tx) oneName(dir Ino) error {
	names, err := tx.namesOf(dir)
	if err != nil || len(names) < 2 {
		return nil
	}

	shown := 0
	for _, name := range names {
		if d, err := tx.lookup(name.Dir, name.Base); err == nil && d.ino == dir {
			shown++
		}
	}
	if shown > 1 {
		return corrupt("directory %d has %d names", dir, shown)
	}
	return nil
}

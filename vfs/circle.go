package vfs

// No directory lies below itself, and each has one name. A damaged row can say otherwise, and who follows it down, or up,
// never comes to an end. What follows is how those who do notice.

// errBelowItself names a directory that a path leads through twice.
func errBelowItself(dir Ino) error { return corrupt("directory %d lies below itself", dir) }

// A climb follows a directory up. It remembers one of those that it came by, a later one after twice as many steps: in a
// circle it comes by that again.
type climb struct {
	mark       Ino
	steps, end int // at end, the mark moves
}

// to is called with each directory on the way.
func (c *climb) to(dir Ino) error {
	if c.steps > 0 && dir == c.mark {
		return errBelowItself(dir)
	}
	if c.steps == c.end {
		c.mark, c.end = dir, 2*c.end+1
	}
	c.steps++
	return nil
}

// entered are the directories that a search has gone into, a bit for each number.
type entered struct {
	pages        map[Ino]*[enteredPage / 64]uint64
	first, again int // how many are new, and how many were not
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

// manyMoves is how often a search may come by directories again beyond once for each.
const manyMoves = 1000

// enter is called before a search goes into a directory that it found under a path. To come by one twice is no fault if
// it was moved meanwhile, so the tree is asked whether the path leads through it twice, or it has two names, now. What is
// listed and cannot be looked up answers neither, and is not followed for good.
func (e *entered) enter(tx *Tx, dir Ino, path string) error {
	if e.add(dir) {
		return nil
	}
	if e.again > e.first+manyMoves {
		return corrupt("directory %d, and others, are listed again and again", dir)
	}
	if _, err := tx.walk(path, false); err != nil && !harmless(err) {
		return err
	}
	return tx.oneName(dir)
}

// oneName fails if a directory has several names. What the index of names says is compared with the entries: a directory
// can be listed without it, and so where it is damaged too.
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

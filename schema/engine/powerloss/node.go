package powerloss

import "math/rand/v2"

const pageSize = 4096

// A node is one file of the database: as every process sees it, and as the disk has it.
type node struct {
	cache []byte         // as processes see it
	disk  []byte         // as a loss of power leaves it
	dirty map[int64]bool // pages of the cache that the disk does not have yet
	cut   int64          // the file was cut to that length, which the disk does not know yet; -1 if it does
	ghost []byte         // the file that had the name before, until the directory is synced

	failures int  // of writing dirty pages
	reported bool // the last one was reported by a sync
}

func newNode() *node { return &node{dirty: make(map[int64]bool), cut: -1} }

func (n *node) write(p []byte, off int64) {
	end := off + int64(len(p))
	if end > int64(len(n.cache)) {
		n.cache = append(n.cache, make([]byte, end-int64(len(n.cache)))...)
	}
	copy(n.cache[off:], p)
	for page := off / pageSize; page*pageSize < end; page++ {
		n.dirty[page] = true
	}
}

func (n *node) truncate(size int64) {
	if size >= int64(len(n.cache)) {
		return // SQLite never makes a file longer so
	}
	n.cache = n.cache[:size]
	for page := range n.dirty {
		if page*pageSize >= size {
			delete(n.dirty, page)
		}
	}
	if n.cut < 0 || size < n.cut {
		n.cut = size
	}
}

// flush writes a dirty page to the disk. That the file was cut is known there before anything that came after.
func (n *node) flush(page int64) {
	n.cutDisk()
	delete(n.dirty, page)
	end := min((page+1)*pageSize, int64(len(n.cache)))
	if end > int64(len(n.disk)) {
		n.disk = append(n.disk, make([]byte, end-int64(len(n.disk)))...)
	}
	copy(n.disk[page*pageSize:end], n.cache[page*pageSize:end])
}

func (n *node) cutDisk() {
	if n.cut >= 0 {
		n.disk = n.disk[:min(n.cut, int64(len(n.disk)))]
		n.cut = -1
	}
}

// sync writes all that is dirty.
func (n *node) sync() {
	for page := range n.dirty {
		n.flush(page)
	}
	n.cutDisk()
	n.ghost = nil
}

// fail is a sync, or a write by the kernel's own will, that the disk does not take: some pages get there, the others are
// dropped, and returned.
func (n *node) fail(random *rand.Rand) (dropped []int64) {
	for page := range int64(len(n.cache)/pageSize + 1) {
		switch {
		case !n.dirty[page]:
		case random.IntN(4) == 0:
			n.flush(page)
		default:
			delete(n.dirty, page)
			dropped = append(dropped, page)
		}
	}
	n.failures++
	n.reported = false
	return dropped
}

// onDisk returns a page as the disk has it.
func (n *node) onDisk(page int64) []byte {
	p := make([]byte, min(pageSize, int64(len(n.cache))-page*pageSize))
	if page*pageSize < int64(len(n.disk)) {
		copy(p, n.disk[page*pageSize:])
	}
	return p
}

// after returns the file as a loss of power leaves it. With random, some of the dirty pages are there too.
func (n *node) after(random *rand.Rand) []byte {
	if n.ghost != nil && (random == nil || random.IntN(2) == 0) {
		return n.ghost
	}
	left := &node{cache: n.cache, disk: append([]byte(nil), n.disk...), dirty: make(map[int64]bool), cut: n.cut}
	if random != nil {
		for page := range int64(len(n.cache)/pageSize + 1) {
			if n.dirty[page] && random.IntN(2) == 0 {
				left.flush(page)
			}
		}
	}
	return left.disk
}

// clone returns the file as another process finds it.
func (n *node) clone() *node {
	c := *n
	c.cache, c.disk = append([]byte(nil), n.cache...), append([]byte(nil), n.disk...)
	c.dirty = make(map[int64]bool, len(n.dirty))
	for page := range n.dirty {
		c.dirty[page] = true
	}
	return &c
}

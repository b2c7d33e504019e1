package node

import (
	"vfsdb/schema"
)

// No directory lies below itself, and each has one name. A damaged row can contradict that. Code that follows such a row
// down, or up, would not end: the types in this file notice.

// ErrBelowItself names a directory that a path leads through twice.
func ErrBelowItself(dir Ino) error { return schema.Corrupt("directory %d lies below itself", dir) }

// A Circle notices that a climb has come to a directory twice. It remembers one directory of those that the climb has
// passed, and a later one after twice as many steps. In a circle the climb passes that one again.
type Circle struct {
	mark       Ino
	steps, end int // at end, the mark moves
}

// To is called with each directory on the way.
func (c *Circle) To(dir Ino) error {
	if c.steps > 0 && dir == c.mark {
		return ErrBelowItself(dir)
	}
	if c.steps == c.end {
		c.mark, c.end = dir, 2*c.end+1
	}
	c.steps++
	return nil
}

// An InoSet is a set of inodes, a bit for each number: of the directories that a walk down has gone into.
type InoSet struct {
	pages map[Ino]*[inosOfPage / 64]uint64
}

const inosOfPage = 4096

// Add adds an inode, and reports whether it is new.
func (s *InoSet) Add(ino Ino) bool {
	if s.pages == nil {
		s.pages = make(map[Ino]*[inosOfPage / 64]uint64)
	}
	page, bit := ino/inosOfPage, uint64(ino)%inosOfPage
	bits := s.pages[page]
	if bits == nil {
		bits = new([inosOfPage / 64]uint64)
		s.pages[page] = bits
	}

	if bits[bit/64]>>(bit%64)&1 == 1 {
		return false
	}
	bits[bit/64] |= 1 << (bit % 64)
	return true
}

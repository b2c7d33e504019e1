package tree

import (
	"slices"
	"sync"
	"sync/atomic"

	"vfsdb/chunk"
	"vfsdb/node"
)

// An openInode is a regular file of a head that handles of this store have open. It holds their uncommitted writes, which
// they share, so each handle sees at once what the others write.
//
// New writes go into the top overlay. A transaction that commits them makes the overlay a layer of its own, and folds the
// layer into the content. The layer is dropped when the transaction has committed, and stays if it fails. Reads and
// writes go on meanwhile. No goroutine waits for anything while it holds mu.
type openInode struct {
	id   BranchIno
	refs int // open handles; guarded by the store's mu

	dirty atomic.Bool // something is not committed

	mu     sync.RWMutex
	layers []*layer // oldest first
	top    chunk.Overlay
	turn   uint64    // counts the beginnings and ends of commits
	name   node.Name // by which it was written last
}

// A BranchIno is an inode of the head of a branch.
type BranchIno struct {
	Branch int64
	Ino    node.Ino
}

// A layer is a [chunk.Overlay] that a transaction has folded into the content. It does not change, unless that transaction fails
// and another one folds it again.
type layer struct {
	chunk.Overlay
	folding bool          // the transaction has not failed
	base    chunk.Content // the committed one when it began
}

// share returns the openInode of an inode, with one more handle. The caller holds st.mu.
func (st *Store) share(id BranchIno) *openInode {
	s := st.inodes[id]
	if s == nil {
		s = &openInode{id: id}
		st.inodes[id] = s
	}
	s.refs++
	return s
}

// unshare ends the use of one handle. The caller holds st.mu.
func (st *Store) unshare(s *openInode) {
	if s.refs--; s.refs == 0 {
		delete(st.inodes, s.id)
	}
}

// isLast reports whether no other handle has the inode open.
func (st *Store) isLast(s *openInode) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return s.refs == 1
}

// uncommitted returns the openInode of an inode; nil if the inode has no uncommitted writes.
func (st *Store) uncommitted(id BranchIno) *openInode {
	st.mu.Lock()
	defer st.mu.Unlock()
	if s := st.inodes[id]; s != nil && s.dirty.Load() {
		return s
	}
	return nil
}

// uncommittedOf returns the inodes of a branch that have uncommitted writes.
func (st *Store) uncommittedOf(branch int64) []node.Ino {
	st.mu.Lock()
	defer st.mu.Unlock()
	var list []node.Ino
	for id, s := range st.inodes {
		if id.Branch == branch && s.dirty.Load() {
			list = append(list, id.Ino)
		}
	}
	slices.Sort(list)
	return list
}

// write takes p, or as much of it as can ever fit, and returns how many bytes it took: none if a commit must make room
// first.
func (s *openInode) write(name node.Name, p []byte, off int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fits(p, off) && s.dirty.Load() {
		return 0
	}
	done := 0
	for done < len(p) && !s.top.IsFull() {
		done += s.top.Write(p[done:], off+int64(done))
	}
	s.name = name
	s.dirty.Store(true)
	return done
}

// fits reports whether p can be taken whole.
func (s *openInode) fits(p []byte, off int64) bool {
	overlays := []*chunk.Overlay{&s.top}
	for _, l := range s.layers {
		overlays = append(overlays, &l.Overlay)
	}
	return chunk.Fits(overlays, len(p), off)
}

func (s *openInode) truncate(name node.Name, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.top.Truncate(size)
	s.name = name
	s.dirty.Store(true)
}

// now returns the turn, for over. A nil openInode, as of a directory, never has anything over it.
func (s *openInode) now() uint64 {
	if s == nil {
		return 0
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.turn
}

// over returns the cover of a range of the committed content base, which was looked up after the given turn. It is not ok
// if a commit has begun or ended since: base may be the content before it, and the layers those after it.
func (s *openInode) over(base chunk.Content, turn uint64, off, end int64) (c chunk.Cover, ok bool) {
	if s == nil {
		return chunk.NewCover(base, off, end), true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.turn != turn {
		return chunk.Cover{}, false
	}
	c = chunk.NewCover(base, off, end)
	for _, l := range s.layers {
		if l.folding && l.base != base {
			continue // base is the content after the commit, which has not ended yet
		}
		c.Add(&l.Overlay)
	}
	c.Add(&s.top)
	return c, true
}

// seal makes a layer of the writes that no layer of mine has. base is the content that the transaction found when it
// began. The layer is nil if there are no such writes.
func (s *openInode) seal(base chunk.Content, mine []*layer) (l *layer, name node.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l = &layer{folding: true, base: base}
	var kept []*layer
	for _, old := range s.layers {
		if slices.Contains(mine, old) {
			kept = append(kept, old)
		} else {
			l.Merge(&old.Overlay) // its transaction has failed: only one writes at a time
		}
	}
	l.Merge(&s.top)
	if l.IsEmpty() {
		return nil, node.Name{}
	}
	s.layers, s.top = append(kept, l), chunk.Overlay{}
	s.turn++
	return l, s.name
}

// landed drops a layer that is committed.
func (s *openInode) landed(l *layer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.layers = slices.DeleteFunc(s.layers, func(have *layer) bool { return have == l })
	s.turn++
	s.dirty.Store(len(s.layers) > 0 || !s.top.IsEmpty())
}

// failed marks a layer as not committed, unless it has landed.
func (s *openInode) failed(l *layer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.folding = false
}

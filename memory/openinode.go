package memory

import (
	"slices"
	"sync"
	"sync/atomic"

	"vfsdb/chunk"
	"vfsdb/node"
)

// An OpenInode is a regular file of a head that handles of this store have open. It holds their uncommitted writes, which
// they share, so each handle sees at once what the others write.
//
// New writes go into the top overlay. A transaction that commits them makes the overlay a layer of its own, and folds the
// layer into the content. The layer is dropped when the transaction has committed, and stays if it fails. Reads and
// writes go on meanwhile. No goroutine waits for anything while it holds mu.
type OpenInode struct {
	id BranchIno

	// Guarded by the mu of OpenInodes: the open handles, and how many of them no Close has begun to end.
	refs, staying int

	dirty atomic.Bool

	mu     sync.RWMutex
	layers []*Layer // oldest first
	top    chunk.Overlay
	turn   uint64    // counts the beginnings and ends of commits
	name   node.Name // by which it was written last
}

// A BranchIno is an inode of the head of a branch.
type BranchIno struct {
	Branch int64
	Ino    node.Ino
}

// A Layer is a [chunk.Overlay] that a transaction has folded into the content. It does not change, unless that transaction
// fails and another one folds it again.
type Layer struct {
	chunk.Overlay
	folding bool          // the transaction has not failed
	base    chunk.Content // the committed one when it began
}

// OpenInodes are the open inodes of a store. They are safe for concurrent use.
type OpenInodes struct {
	mu   sync.Mutex
	open map[BranchIno]*OpenInode
}

// Share returns the OpenInode of an inode, with one more handle.
func (l *OpenInodes) Share(id BranchIno) *OpenInode {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.open[id]
	if s == nil {
		if l.open == nil {
			l.open = make(map[BranchIno]*OpenInode)
		}
		s = &OpenInode{id: id}
		l.open[id] = s
	}
	s.refs++
	s.staying++
	return s
}

// Leave notes that a handle begins to close, and reports whether all others have begun too: then it must commit the writes,
// since nobody else does. The handle is in use until Unshare.
func (l *OpenInodes) Leave(s *OpenInode) (last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.staying--
	return s.staying == 0
}

// Unshare ends the use of one handle, which has left.
func (l *OpenInodes) Unshare(s *OpenInode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.refs--; s.refs == 0 {
		delete(l.open, s.id)
	}
}

// Uncommitted returns the OpenInode of an inode; nil if the inode has no uncommitted writes.
func (l *OpenInodes) Uncommitted(id BranchIno) *OpenInode {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.open[id]; s != nil && s.dirty.Load() {
		return s
	}
	return nil
}

// UncommittedOf returns the inodes of a branch that have uncommitted writes.
func (l *OpenInodes) UncommittedOf(branch int64) []node.Ino {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []node.Ino
	for id, s := range l.open {
		if id.Branch == branch && s.dirty.Load() {
			list = append(list, id.Ino)
		}
	}
	slices.Sort(list)
	return list
}

// Write takes p, or as much of it as can ever fit, and returns how many bytes it took: none if a commit must make room
// first.
func (s *OpenInode) Write(name node.Name, p []byte, off int64) int {
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
func (s *OpenInode) fits(p []byte, off int64) bool {
	overlays := []*chunk.Overlay{&s.top}
	for _, l := range s.layers {
		overlays = append(overlays, &l.Overlay)
	}
	return chunk.Fits(overlays, len(p), off)
}

// Truncate gives the file another size, as a write does: it is not committed yet.
func (s *OpenInode) Truncate(name node.Name, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.top.Truncate(size)
	s.name = name
	s.dirty.Store(true)
}

// IsDirty reports whether something is not committed.
func (s *OpenInode) IsDirty() bool { return s != nil && s.dirty.Load() }

// Now returns the turn, for Over. A nil OpenInode, as of a directory, never has anything over it.
func (s *OpenInode) Now() uint64 {
	if s == nil {
		return 0
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.turn
}

// Over returns the cover of a range of the committed content base, which was looked up after the given turn. It is not ok
// if a commit has begun or ended since: base may be the content before it, and the layers those after it.
func (s *OpenInode) Over(base chunk.Content, turn uint64, off, end int64) (c chunk.Cover, ok bool) {
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

// Seal makes a layer of the writes that no layer of mine has. base is the content that the transaction found when it
// began. The layer is nil if there are no such writes.
func (s *OpenInode) Seal(base chunk.Content, mine []*Layer) (l *Layer, name node.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l = &Layer{folding: true, base: base}
	var kept []*Layer
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

// Landed drops a layer that is committed.
func (s *OpenInode) Landed(l *Layer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.layers = slices.DeleteFunc(s.layers, func(have *Layer) bool { return have == l })
	s.turn++
	s.dirty.Store(len(s.layers) > 0 || !s.top.IsEmpty())
}

// Failed marks a layer as not committed, unless it has landed.
func (s *OpenInode) Failed(l *Layer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.folding = false
}

package mount

import (
	"context"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// slots are the trees of a mount that the kernel has asked for. A tree keeps its slot, and so the numbers of its inodes,
// for as long as the mount lasts. They are safe for concurrent use.
type slots struct {
	ctx    context.Context // ends the following of branches
	server *fuse.Server    // set before the first request
	run    sync.WaitGroup

	mu     sync.Mutex
	all    map[uint64]*slot
	byTree map[vfs.Moment]*slot
}

// maxSlots is how many trees a mount shows before it ends. No slot is given to another tree: its numbers would be given out
// twice.
const maxSlots = 1<<(64-slotShift) - 1

// A slot is one tree of a mount.
type slot struct {
	number uint64
	at     vfs.Moment

	mu    sync.Mutex
	known uint64  // how many look-ups of inodes the kernel has been given, less those that it has forgotten
	shown *frozen // nil when it knows none: then nothing is held
	end   func()
}

// of returns the slot of a tree. A mount that is full is ENFILE.
func (ss *slots) of(at vfs.Moment) (*slot, error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if s := ss.byTree[at]; s != nil {
		return s, nil
	}
	if ss.all == nil {
		ss.all, ss.byTree = make(map[uint64]*slot), make(map[vfs.Moment]*slot)
	}
	if len(ss.all) == maxSlots {
		return nil, syscall.ENFILE
	}
	s := &slot{number: uint64(len(ss.all)) + 1, at: at}
	ss.all[s.number], ss.byTree[at] = s, s
	return s, nil
}

// numbered returns the slot that a number of the kernel's is in.
func (ss *slots) numbered(id uint64) *slot {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.all[id>>slotShift]
}

// tree returns the tree of an inode that the kernel knows; nil if it knows none there.
func (s *slot) tree() *frozen {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

// enter fills in the root of a tree, and begins to hold it if the kernel knew nothing of it.
func (ss *slots) enter(t *tree.Tree, out *fuse.EntryOut) error {
	s, err := ss.of(t.Moment())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == nil {
		if err := ss.begin(s, t); err != nil {
			return err
		}
	}

	n, err := s.shown.node(s.shown.number(t.Root()))
	if err != nil {
		s.leave()
		return err
	}
	s.shown.fillEntry(out, n)
	s.known++
	return nil
}

// begin holds a past moment, or follows a branch, until leave. The slot is locked.
func (ss *slots) begin(s *slot, t *tree.Tree) error {
	ctx, cancel := context.WithCancel(ss.ctx)
	if !t.Frozen() {
		seq, err := t.Store().Journal().Seq(ctx)
		if err != nil {
			cancel()
			return err
		}
		shown := newFrozen(ss.ctx, t)
		shown.slot, shown.head = s.number, true
		ss.run.Go(func() { ss.follow(ctx, shown, seq) })
		s.shown, s.end = shown, cancel
		return nil
	}

	held, release, err := t.Hold(ctx)
	if err != nil {
		cancel()
		return err
	}
	shown := newFrozen(ss.ctx, held)
	shown.slot, shown.server = s.number, ss.server
	s.shown = shown
	s.end = func() {
		cancel()
		ss.run.Go(func() { // a push may wait for the kernel, which waits for this
			shown.pushes.stop()
			release()
		})
	}
	return nil
}

// count adds look-ups of inodes that the kernel is given, or with a negative number takes away those that it has forgotten.
func (s *slot) count(n int64) {
	if s == nil || n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known += uint64(n); s.known == 0 {
		s.leave()
	}
}

// leave ends the hold if the kernel knows nothing of the tree. The slot is locked.
func (s *slot) leave() {
	if s.known == 0 && s.shown != nil {
		s.end()
		s.shown, s.end = nil, nil
	}
}

// stop ends all holds, after the last request.
func (ss *slots) stop() {
	ss.mu.Lock()
	for _, s := range ss.all {
		s.mu.Lock()
		s.known = 0
		s.leave()
		s.mu.Unlock()
	}
	ss.mu.Unlock()
	ss.run.Wait()
}

// follow has the kernel drop what changes in a branch, so that a change is seen before headValid is over. That time is the
// bound all the same: a change that has no event, or comes after the end of the record, is seen then.
func (ss *slots) follow(ctx context.Context, f *frozen, seq int64) {
	for e, err := range (*vfs.FS)(f.tree).Watch(ctx, "", seq) {
		if err != nil {
			return
		}
		for _, ino := range []node.Ino{e.Ino, e.Displaced, e.Dir, e.ArgDir} {
			if ino != 0 {
				ss.server.InodeNotify(f.number(ino), 0, 0)
			}
		}
		for _, name := range entriesOf(&e) {
			ss.server.EntryNotify(f.number(name.Dir), name.Base)
		}
	}
}

package mount

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A feed invalidates the kernel's caches of what others have changed. It sends its notices from goroutines that hold no
// lock: the kernel may wait for the reply to a request on the same inode before it takes a notice.
type feed struct {
	server *fuse.Server
	since  int64
	stop   context.CancelFunc
	ended  chan struct{}

	mu   sync.Mutex
	mine []span // events of the mount's own commits, which the kernel knows of
}

// A span is the events from first to before end.
type span struct{ first, end int64 }

// own notes the events of a commit that is about to be made.
func (f *feed) own(first, end int64) span {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := span{first, end}
	if first < end {
		f.mine = append(f.mine, s)
	}
	return s
}

// disown undoes own, since the commit was not made.
func (f *feed) disown(s span) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mine = slices.DeleteFunc(f.mine, func(have span) bool { return have == s })
}

// isOwn reports whether an event is of the mount's own. Events are asked for in order.
func (f *feed) isOwn(seq int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.mine) > 0 && f.mine[0].end <= seq {
		f.mine = f.mine[1:]
	}
	return len(f.mine) > 0 && f.mine[0].first <= seq
}

// Init begins to follow the changes of others, until the end of the feed.
func (l *live) Init(server *fuse.Server) {
	ctx, stop := context.WithCancel(l.ctx)
	l.feed.server, l.feed.stop, l.feed.ended = server, stop, make(chan struct{})
	go func() {
		defer close(l.feed.ended)
		for ctx.Err() == nil {
			var trimmed *vfs.TrimmedError
			if err := l.follow(ctx); errors.As(err, &trimmed) {
				l.feed.since = trimmed.Since
				l.dropMissed()
			} else if errors.Is(err, fs.ErrClosed) {
				return
			} else if err != nil && ctx.Err() == nil {
				wait(ctx, retryAfter) // what it has not read by then it reads later
			}
		}
	}()
}

// wait waits for some time, or until ctx ends.
func wait(ctx context.Context, long time.Duration) {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (f *feed) end() {
	if f.stop != nil {
		f.stop()
		<-f.ended
	}
}

// follow reads events until ctx ends.
func (l *live) follow(ctx context.Context) error {
	for e, err := range l.fsys.Watch(ctx, "", l.feed.since) {
		if err != nil {
			return err
		}
		l.feed.since = e.Seq
		if !l.feed.isOwn(e.Seq) {
			l.invalidate(&e)
		}
	}
	return nil
}

// invalidate drops what the kernel keeps of the inodes and entries that an event names.
func (l *live) invalidate(e *vfs.Event) {
	for _, ino := range []node.Ino{e.Ino, e.Displaced} {
		if ino != 0 && (ino == l.tree.Root() || l.inodes.knows(ino)) {
			l.holdNameless(ino)
			l.drop(ino)
		}
	}
	if e.Op == vfs.OpRemoveAll || e.Op == vfs.OpRestore || e.Op == vfs.OpMerge {
		l.holdLost()
	}
	for _, name := range entriesOf(e) {
		l.dropEntry(name)
	}
}

// entriesOf returns the entries that an event changed.
func entriesOf(e *vfs.Event) (list []node.Name) {
	if e.Dir != 0 {
		list = append(list, node.Name{Dir: e.Dir, Base: path.Base(e.Path)})
	}
	if e.ArgDir == 0 {
		return list
	}
	base := path.Base(e.Path)
	if e.Op == vfs.OpRename {
		base = path.Base(e.Arg)
	}
	return append(list, node.Name{Dir: e.ArgDir, Base: base})
}

// holdNameless keeps an inode that has lost its last name, since a program may have it open.
func (l *live) holdNameless(ino node.Ino) {
	if n, err := l.node(ino); err == nil && n.Nlink == 0 {
		l.inodes.hold(ino)
	}
}

// holdLost keeps the files that the kernel knows and no path leads to, since a directory above them has lost its name.
func (l *live) holdLost() {
	names := l.inodes.names()
	var lost []node.Ino
	err := l.tree.View(l.ctx, func(tx *tree.Tx) error {
		lost = lost[:0]
		paths := tx.PathFinder()
		for ino, name := range names {
			if path, err := paths.Path(name.Dir); err != nil {
				return err
			} else if path == "" {
				lost = append(lost, ino)
			}
		}
		return nil
	})
	if err == nil {
		for _, ino := range lost {
			l.inodes.hold(ino)
		}
	}
}

// drop drops what the kernel keeps of an inode.
func (l *live) drop(ino node.Ino) { l.feed.server.InodeNotify(l.id(ino), 0, 0) }

// dropEntry drops what the kernel keeps of an entry, and of its directory.
func (l *live) dropEntry(name node.Name) {
	if name.Dir != l.tree.Root() && !l.inodes.knows(name.Dir) {
		return
	}
	l.drop(name.Dir)
	l.feed.server.EntryNotify(l.id(name.Dir), name.Base)
}

// dropAll drops all that the kernel keeps of inodes, and some entries.
func (l *live) dropAll(names []node.Name) {
	if l.feed.server == nil {
		return
	}
	l.drop(l.tree.Root())
	for _, ino := range l.inodes.all() {
		l.drop(ino)
	}
	for _, name := range names {
		l.dropEntry(name)
	}
}

// dropMissed drops all that may be stale since events are missing: all that the kernel caches of inodes, and each entry that
// the tree has and the kernel does not, or the other way round.
func (l *live) dropMissed() {
	known, dirs := l.inodes.entries()
	dirs = append(dirs, l.tree.Root())
	for _, ino := range l.inodes.all() {
		l.holdNameless(ino)
	}
	l.holdLost()

	var stale []node.Name
	err := l.look(func(tx *tree.Tx) error {
		stale = stale[:0]
		for name, ino := range known {
			if d, err := tx.Lookup(name.Dir, name.Base); err != nil || d.Ino != ino {
				stale = append(stale, name)
			}
		}
		for _, dir := range dirs {
			for e, err := range tx.Entries(dir, "") {
				if err != nil {
					return err
				}
				if name := (node.Name{Dir: dir, Base: e.Name}); known[name] != e.Ino {
					stale = append(stale, name)
				}
			}
		}
		return nil
	})
	if err != nil { // nothing is known of the tree, so no entry is kept
		stale = slices.Collect(maps.Keys(known))
	}
	l.dropAll(stale)
}

// attributes drops the attributes that the kernel keeps of an inode.
func (f *feed) attributes(ino node.Ino) {
	go f.server.InodeNotify(uint64(ino), -1, 0)
}

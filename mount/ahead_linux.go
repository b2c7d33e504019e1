package mount

import (
	"slices"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/chunk"
	"vfsdb/node"
)

// A program that reads one small file after the other waits for one answer each. So once a few were read in the order in
// which the kernel came to know them, which is that of their directory, the contents of those behind them are stored in the
// kernel before it asks: see pusher. An ahead is the state for that. It is safe for concurrent use.
type ahead struct {
	mu     sync.Mutex
	unread map[node.Ino]spot // files that the kernel knows and has not read
	lists  map[node.Ino]*list
	newest *list

	streak int // how many files were read in order
	window int // how many are pushed next
	busy   bool

	marker node.Ino // a file of the last window that was not pushed; 0 once it was read
	rest   *list    // where the next window begins
	again  bool     // the marker was read while that push ran
}

// A list is the small files of one directory, in the order in which the kernel came to know them.
type list struct {
	files []small
	next  int   // the first that was neither read nor pushed
	after *list // the directory that became known next
}

// A small file is one that is worth a push.
type small struct {
	ino  node.Ino
	size int64
}

type spot struct {
	in *list
	at int
}

const (
	// aheadLimit is how long a file may be that is pushed: a chunk, which is read and verified at once anyway.
	aheadLimit = chunk.Size

	// aheadFrom is how many files must have been read in order before others are pushed. A program that opens a file or two
	// does not make the process read a directory.
	aheadFrom = 3

	// aheadAcross is how many must have been read or pushed in order before those of the next directory are, too.
	aheadAcross = 12

	// aheadGap is how many files a reader in order may leave out.
	aheadGap = 4

	// The window grows with each push from the least to the most files, and to a number of bytes.
	leastWindow, mostWindow = 8, 256
	windowBytes             = 4 << 20

	// maxUnread bounds the files that are remembered. When there are more, all are forgotten: nothing but speed is lost.
	maxUnread = 1 << 16
)

// known notes that the kernel knows a file, of a directory.
func (a *ahead) known(dir node.Ino, n *node.Node) {
	if n.Kind() != node.KindFile || n.Content.Size > aheadLimit || n.Content.Blob == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.unread[n.Ino]; known {
		return
	}
	if a.unread == nil || len(a.unread) >= maxUnread {
		a.unread, a.lists, a.newest = make(map[node.Ino]spot), make(map[node.Ino]*list), nil
	}

	l := a.lists[dir]
	if l == nil {
		l = new(list)
		if a.newest != nil {
			a.newest.after = l
		}
		a.lists[dir], a.newest = l, l
	}
	a.unread[n.Ino] = spot{l, len(l.files)}
	l.files = append(l.files, small{n.Ino, n.Content.Size})
}

// read notes that the kernel reads a file, and returns those that are worth a push now. If there are any, the caller calls
// pushed at the end.
func (a *ahead) read(ino node.Ino) (push []node.Ino) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.unread[ino]
	if !ok {
		return nil
	}
	delete(a.unread, ino)
	l := at.in
	switch {
	case ino == a.marker: // a reader in order has come so far, and needs the next window soon
		a.marker = 0
		if a.busy {
			a.again = true
			return nil
		}
		return a.following(a.rest)
	case a.busy && at.at < l.next: // its push comes too late
		return nil
	case at.at >= l.next && at.at-l.next <= aheadGap:
		a.streak++
	default:
		a.streak, a.window = 1, 0
	}

	l.next = at.at + 1
	if a.streak < aheadFrom || a.busy {
		return nil
	}
	return a.following(l)
}

// following returns the files of the next window, from a list on. One in the middle is left out: the kernel asks for that
// marker while there is something left, so that the reader of the window behind it need not wait.
func (a *ahead) following(l *list) (push []node.Ino) {
	a.window = min(max(2*a.window, leastWindow), mostWindow)
	a.marker, a.again = 0, false
	for bytes := int64(0); l != nil && len(push) < a.window && bytes < windowBytes; l = l.after {
		a.rest = l
		for l.next < len(l.files) && len(push) < a.window && bytes < windowBytes {
			if f := l.files[l.next]; a.isAt(f.ino, l) {
				push = append(push, f.ino)
				bytes += f.size
			}
			l.next++
		}
		if a.streak+len(push) < aheadAcross {
			break
		}
	}

	a.streak += len(push)
	if n := len(push); n > leastWindow {
		a.marker = push[n/2]
		push = slices.Delete(push, n/2, n/2+1)
	}
	a.busy = len(push) > 0
	return push
}

// isAt reports whether a file is unread, and its place is the next one of a list.
func (a *ahead) isAt(ino node.Ino, l *list) bool {
	at, ok := a.unread[ino]
	return ok && at == spot{l, l.next}
}

// take reports whether the kernel has not asked for a file yet, which then counts as read.
func (a *ahead) take(ino node.Ino) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.unread[ino]
	delete(a.unread, ino)
	return ok
}

// waits reports whether the kernel has not asked for a file yet.
func (a *ahead) waits(ino node.Ino) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.unread[ino]
	return ok
}

// pushed ends a push, and returns the files of the next one if it is needed already. If the kernel knew few of the files, the
// next push needs a new reason.
func (a *ahead) pushed(useful bool) (push []node.Ino) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
	switch {
	case !useful:
		a.streak, a.window, a.marker, a.again = 0, 0, 0, false
	case a.again:
		return a.following(a.rest)
	}
	return nil
}

// nowKnown notes that the kernel knows a file. Files of a head are not pushed: they might have changed meanwhile.
func (f *frozen) nowKnown(dir node.Ino, n *node.Node) {
	if !f.head {
		f.ahead.known(dir, n)
	}
}

// readAhead notes a read, and begins a push where it is worth one.
func (f *frozen) readAhead(ino node.Ino) {
	push := f.ahead.read(ino)
	if len(push) == 0 {
		return
	}
	if f.server == nil || !f.pushes.begin() {
		f.ahead.pushed(false)
		return
	}
	go func() {
		defer f.pushes.end()
		for len(push) > 0 {
			push = f.ahead.pushed(f.push(push))
		}
	}()
}

// Init is called before the first request.
func (f *frozen) Init(s *fuse.Server) { f.server = s }

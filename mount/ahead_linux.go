package mount

import (
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"vfsdb/node"
)

// A program that reads one small file after the other waits for one answer each. So once a few were read in the order in
// which the kernel came to know them, which is that of their directory, the contents of those behind them are stored in the
// kernel before it asks: see pusher. An ahead is what is known for that. It is safe for concurrent use.
type ahead struct {
	mu     sync.Mutex
	unread map[node.Ino]spot // files that the kernel knows and has not read
	lists  map[node.Ino]*list
	newest *list

	streak int // how many files were read in order
	window int // how many are pushed next
	busy   bool
}

// A list is the small files of one directory, in the order in which the kernel came to know them.
type list struct {
	files []node.Ino
	next  int   // the first that was neither read nor pushed
	after *list // the directory that became known next
}

type spot struct {
	in *list
	at int
}

const (
	// aheadLimit is how long a file may be that is pushed.
	aheadLimit = 128 << 10

	// aheadFrom is how many files must have been read in order before others are pushed. A program that opens a file or two
	// does not make the process read a directory.
	aheadFrom = 3

	// aheadAcross is how many must have been read or pushed in order before those of the next directory are, too.
	aheadAcross = 12

	// aheadGap is how many files a reader in order may leave out.
	aheadGap = 4

	// The window grows with each push from the least to the most files.
	leastWindow, mostWindow = 8, 256

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
	l.files = append(l.files, n.Ino)
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
	if at.at >= l.next && at.at-l.next <= aheadGap {
		a.streak++
	} else {
		a.streak, a.window = 1, 0
	}
	l.next = at.at + 1
	if a.streak < aheadFrom || a.busy {
		return nil
	}

	a.window = min(max(2*a.window, leastWindow), mostWindow)
	for ; l != nil && len(push) < a.window; l = l.after {
		for l.next < len(l.files) && len(push) < a.window {
			if ino := l.files[l.next]; a.isAt(ino, l) {
				push = append(push, ino)
			}
			l.next++
		}
		if a.streak+len(push) < aheadAcross {
			break
		}
	}
	a.streak += len(push)
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

// pushed ends a push. If the kernel knew few of the files, the next push needs a new reason.
func (a *ahead) pushed(useful bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
	if !useful {
		a.streak, a.window = 0, 0
	}
}

// nowKnown notes that the kernel knows a file. What can change is not pushed: it might have changed meanwhile.
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
		f.ahead.pushed(f.push(push))
	}()
}

// Init is called before the first request.
func (f *frozen) Init(s *fuse.Server) { f.server = s }

package tool

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"vfsdb/vfs"
)

// A logWriter writes the rows of calls of one open store. A call does not wait for it: one that reads would wait for
// those that write otherwise, and each row would be a commit of its own. While one commit runs, the rows of the next
// one gather. It has a goroutine only as long as there is something to write.
type logWriter struct {
	store any // the key in logWriters

	waiting []logged
	dropped int
	idle    chan struct{} // closed when all is written
}

// A logged is a call that is over, and the tree that it was on.
type logged struct {
	fsys   *vfs.FS
	call   *vfs.Call
	logger *slog.Logger
}

// maxLogged is how many calls may wait to be written. What comes then has no row, unless it changed something.
const maxLogged = 4096

// logWriters are those with something to write, by their store.
var logWriters = struct {
	sync.Mutex // guards the writers too
	of         map[any]*logWriter
}{of: map[any]*logWriter{}}

// enter has a call written.
func (l logged) enter() {
	logWriters.Lock()
	defer logWriters.Unlock()
	store := l.fsys.DB()
	w := logWriters.of[store]
	if w == nil {
		w = &logWriter{store: store, idle: make(chan struct{})}
		logWriters.of[store] = w
		go w.run()
	}
	w.queue(l)
}

func (w *logWriter) queue(l logged) {
	if len(w.waiting) >= maxLogged {
		w.dropped++
		return
	}
	w.waiting = append(w.waiting, l)
}

// run writes until nothing waits any more.
func (w *logWriter) run() {
	for {
		logWriters.Lock()
		batch, dropped := w.waiting, w.dropped
		w.waiting, w.dropped = nil, 0
		if len(batch) == 0 {
			delete(logWriters.of, w.store)
			close(w.idle)
			logWriters.Unlock()
			return
		}
		logWriters.Unlock()
		w.write(batch, dropped)
	}
}

// logPatience bounds how long rows wait for other writers.
const logPatience = 30 * time.Second

func (w *logWriter) write(batch []logged, dropped int) {
	ctx, cancel := context.WithTimeout(context.Background(), logPatience)
	defer cancel()
	for len(batch) > 0 {
		fsys, calls := batch[0].fsys, []*vfs.Call(nil)
		n := 0
		for n < len(batch) && batch[n].fsys.Moment() == fsys.Moment() {
			calls = append(calls, batch[n].call)
			n++
		}
		err := fsys.LogCalls(ctx, calls...)
		if err != nil && !errors.Is(err, fs.ErrClosed) && !errors.Is(err, syscall.EROFS) {
			batch[0].logger.Warn("log of calls", "calls", n, "error", err)
		}
		if dropped > 0 {
			batch[0].logger.Warn("log of calls: too many at once", "dropped", dropped)
			dropped = 0
		}
		batch = batch[n:]
	}
}

// FlushLog waits until the calls of tools on a store that are over stand in its log, or ctx ends. Whoever closes the
// store calls it before.
func FlushLog(ctx context.Context, fsys *vfs.FS) error {
	logWriters.Lock()
	w := logWriters.of[fsys.DB()]
	logWriters.Unlock()
	if w == nil {
		return nil
	}
	select {
	case <-w.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

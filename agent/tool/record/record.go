package record

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

// A writer writes the rows of calls of one open store. A call does not wait for its row: otherwise a call that reads
// would wait for those that write, and each row would be a commit of its own. While one commit runs, the rows of the
// next one gather. The writer has a goroutine only as long as there are rows to write.
type writer struct {
	store any // the key in logWriters

	waiting []Entry
	dropped int
	idle    chan struct{} // closed when all is written
}

// An Entry is a call that is over, and the tree that it was on.
type Entry struct {
	FS     *vfs.FS
	Call   *vfs.Call
	Logger *slog.Logger
}

// maxWaiting bounds the rows that wait to be written. Beyond it a call has a row only if it changed something.
const maxWaiting = 4096

// writers are those with rows to write, by their store.
var writers = struct {
	sync.Mutex // guards the writers too
	of         map[any]*writer
}{of: map[any]*writer{}}

// Enter hands the row of a call to the writer of its store.
func (l Entry) Enter() {
	writers.Lock()
	defer writers.Unlock()
	store := l.FS.Store()
	w := writers.of[store]
	if w == nil {
		w = &writer{store: store, idle: make(chan struct{})}
		writers.of[store] = w
		go w.run()
	}
	w.queue(l)
}

func (w *writer) queue(l Entry) {
	if len(w.waiting) >= maxWaiting {
		w.dropped++
		return
	}
	w.waiting = append(w.waiting, l)
}

// run writes until nothing waits any more.
func (w *writer) run() {
	for {
		writers.Lock()
		batch, dropped := w.waiting, w.dropped
		w.waiting, w.dropped = nil, 0
		if len(batch) == 0 {
			delete(writers.of, w.store)
			close(w.idle)
			writers.Unlock()
			return
		}
		writers.Unlock()
		w.write(batch, dropped)
	}
}

// patience bounds how long rows wait for other writers.
const patience = 30 * time.Second

func (w *writer) write(batch []Entry, dropped int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for len(batch) > 0 {
		fsys, calls := batch[0].FS, []*vfs.Call(nil)
		n := 0
		for n < len(batch) && batch[n].FS.Moment() == fsys.Moment() {
			calls = append(calls, batch[n].Call)
			n++
		}
		err := fsys.LogCalls(ctx, calls...)
		if err != nil && !errors.Is(err, fs.ErrClosed) && !errors.Is(err, syscall.EROFS) {
			batch[0].Logger.Warn("log of calls", "calls", n, "error", err)
		}
		if dropped > 0 {
			batch[0].Logger.Warn("log of calls: too many at once", "dropped", dropped)
			dropped = 0
		}
		batch = batch[n:]
	}
}

// Flush waits until the log has the rows of all calls on a store that have ended, or until ctx ends. Call it before
// closing the store.
func Flush(ctx context.Context, fsys *vfs.FS) error {
	writers.Lock()
	w := writers.of[fsys.Store()]
	writers.Unlock()
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

package schema

import (
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"vfsdb/schema/engine"
)

// A DB is one open file. It is safe for concurrent use.
type DB struct {
	path    string // absolute, symlinks resolved: it must mean the same file later
	place   *place // the file that was opened
	beside  []sidecar
	options Options
	made    bool // the file was not there before
	still   still
	old     bool // it had an older format when it was opened read-only

	logLimit     int64        // in bytes, see checkpoint.go
	logLength    atomic.Int64 // in pages, after the last commit of this process
	longLog      int64        // how long it was when a reader kept it from being emptied; only with the token
	checkpointer checkpointer

	writing chan struct{} // holds one token while a transaction writes
	writer  *conn         // nil if ReadOnly
	queue   queue         // of Join
	crowded bool          // several shared the last transaction; only with the token

	warm    atomic.Pointer[conn] // idle, and used last
	readers chan *conn           // idle
	slots   chan struct{}        // one token per open reader

	index  *engine.Index // nil if there is none
	counts counts

	mu       sync.Mutex
	closed   atomic.Bool
	users    sync.WaitGroup
	unsynced atomic.Bool // a commit of this DB may not be durable
	sealed   atomic.Bool // by SetReadOnly
}

// Path returns the name of the file, absolute and without symlinks.
func (db *DB) Path() string { return db.path }

// ReadOnly reports whether Update is refused: the file was opened with [Options].ReadOnly, or SetReadOnly was called.
func (db *DB) ReadOnly() bool { return db.options.ReadOnly || db.sealed.Load() }

// SetReadOnly refuses every Update of this DB with EROFS from now on, or allows them again; an Update that is running is
// refused at its commit. Other processes go on writing. A file that was opened with [Options].ReadOnly stays so.
func (db *DB) SetReadOnly(on bool) { db.sealed.Store(on) }

// enter counts one user of the connections, so that Close can wait for it.
func (db *DB) enter() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed.Load() {
		return fs.ErrClosed
	}
	db.users.Add(1)
	return nil
}

// Metrics returns the present counts. It costs some loads of memory, and may be called at any time, also after Close.
func (db *DB) Metrics() Metrics {
	return Metrics{
		Commits:  db.counts.commits.Load(),
		Undone:   db.counts.undone.Load(),
		Busy:     db.counts.busy.Load(),
		LockWait: time.Duration(db.counts.lockWait.Load()),
		LogBytes: db.logLength.Load() * PageSize,
	}
}

// Mark returns the present mark, in a few nanoseconds and without a transaction. ok is false where it is not known, see
// [engine.Index], and after Close. A commit changes the mark before its Update returns.
func (db *DB) Mark() (m Mark, ok bool) { return mark(db.index) }

// CommitMark returns the mark of the commit that this DB has just made, for functions of [DB.OnCommit] and [Tx.AfterCommit]. ok is false if it
// is not known, as when somebody else has committed since.
func (db *DB) CommitMark() (m Mark, ok bool) {
	c := db.writer
	before, ok := mark(c.index)
	if !ok {
		return Mark{}, false
	}
	// dataVersion fixes a moment between two looks, and changes if another connection has committed until then.
	version, err := c.dataVersion()
	m, ok = mark(c.index)
	return m, ok && err == nil && version == c.seen && m == before
}

// openIndex opens the index of the log, if there is one. Without it everything works, only slower.
func (db *DB) openIndex() {
	ours := func(fd int) bool { return db.place.file.IsOpen(fd) && db.InPlace() == nil }
	if index, err := engine.OpenIndex(db.path, db.options.ReadOnly, ours); err == nil {
		db.index = index
	}
}

// OnCommit has fn called after each commit of this DB, before another transaction of it can write. fn gets the
// transaction, for [Tx.Local], [Tx.Started] and [Tx.Written]. There is one fn; it is set before the first transaction
// that writes.
func (db *DB) OnCommit(fn func(*Tx)) {
	if db.writer != nil {
		db.writer.committed = fn
	}
}

// InPlace returns ESTALE if the path no longer leads to the file that was opened, or to its log: one of them was moved
// away, removed, or replaced. From then on no Update is committed, since the next process to open the path would not find
// it. Earlier commits are in the file that was opened, wherever that is, once this DB is closed. Reads of it go on, except
// that a new connection is ESTALE.
//
// Each commit calls InPlace just before it begins; a file that is moved while a commit is being written takes the commit
// along. A file that is written over in place, as by cp, stays the same file, and is not noticed.
func (db *DB) InPlace() error {
	if !leads(db.path, db.place.file) {
		return moved(db.path)
	}
	for _, s := range db.beside {
		if !leads(s.path, s.file) {
			return moved(s.path)
		}
	}
	return nil
}

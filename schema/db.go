package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"vfsdb/schema/engine"
)

const (
	// Forever is the died of a live row. In SQL it is always the literal 9223372036854775807.
	Forever = 1<<63 - 1

	// Head is the epoch at which a branch is read as it is now.
	Head = Forever - 1

	// FirstID is the lowest id that any table hands out.
	FirstID = 1024

	// FirstEpoch is the epoch that every branch starts in.
	FirstEpoch = 2

	// RootIno is the inode number of the root directory in every branch.
	RootIno = 1024

	// PageSize is the page size of the file in bytes.
	PageSize = 8192
)

// Options are the ways to open a file. The zero value opens it for reading and writing, creates it when it is missing, and
// makes each commit durable.
type Options struct {
	// ReadOnly refuses writes with EROFS and never creates the file.
	ReadOnly bool

	// MustExist makes Open fail with ENOENT where there is no file, or an empty one.
	MustExist bool

	// Relaxed leaves out the fsync of each commit. Commits survive the death of the process; a loss of power may take the
	// last commits, but never consistency.
	Relaxed bool

	// MaxReaders bounds how many connections read at once, beside the one that writes. 0 means [DefaultMaxReaders]; a
	// negative number is EINVAL. A View beyond it waits for another one to end, so a View inside another needs two.
	MaxReaders int

	immutable bool // nobody can write to the file, so SQLite needs neither a log nor locks, see still.go
}

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

// DefaultMaxReaders is how many reading connections there are at most, unless [Options].MaxReaders is set.
const DefaultMaxReaders = 32

// Path returns the name of the file, absolute and without symlinks.
func (db *DB) Path() string { return db.path }

// ReadOnly reports whether Update is refused: the file was opened with [Options].ReadOnly, or SetReadOnly was called.
func (db *DB) ReadOnly() bool { return db.options.ReadOnly || db.sealed.Load() }

// SetReadOnly refuses every Update of this DB with EROFS from now on, or allows them again; an Update that is running is
// refused at its commit. Other processes go on writing. A file that was opened with [Options].ReadOnly stays so.
func (db *DB) SetReadOnly(on bool) { db.sealed.Store(on) }

// Close waits for running transactions, then closes every connection. Later calls return nil.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed.Swap(true) {
		db.mu.Unlock()
		return nil
	}
	db.mu.Unlock()
	db.users.Wait()

	errs := []error{db.checkpointer.close()}
	for len(db.slots) > 0 {
		c := db.warm.Swap(nil)
		if c == nil {
			c = <-db.readers
		}
		errs = append(errs, c.close())
		<-db.slots
	}

	if db.index != nil {
		errs = append(errs, db.index.Close())
	}
	errs = append(errs, db.part())
	if db.writer != nil {
		errs = append(errs, db.place.closing(db.writer)) // last, so that it folds the log into the file
	}
	db.place.leave()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close %s: %w", db.path, err)
	}
	return nil
}

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

// View runs fn in a transaction that sees one moment of the file. fn must not keep tx, nor call View of the same DB: that
// may wait for a connection, and end with EBUSY. The log cannot restart while fn runs, so fn should return soon.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()
	c, err := db.reader(ctx)
	if err != nil {
		return err
	}
	defer db.release(c)
	return db.stillRun(ctx, c, fn)
}

// Update runs fn in a transaction that writes, and commits it if fn returns nil; when Update has returned nil, the
// commit is durable. A file that was moved away or replaced is ESTALE, see [DB.InPlace]. fn must not keep tx, nor call
// Update of the same DB.
//
// Update waits for other writers until ctx ends, but at most [MaxWait] if ctx has no deadline. Then it fails with EBUSY,
// and with the error of ctx if that has ended: errors.Is holds for both.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if db.ReadOnly() {
		return cmp.Or(ctx.Err(), error(syscall.EROFS))
	}
	return db.keep(ctx, db.options.Relaxed, db.unlessSealed(fn))
}

// Stage is an Update that becomes durable with the next Update that is. It is for rows that mean nothing before that, or
// that may as well be deleted later, and for callers that write many: it waits while the log is long and is being folded
// into the file, so that other writers need not.
func (db *DB) Stage(ctx context.Context, fn func(*Tx) error) error {
	if db.ReadOnly() {
		return cmp.Or(ctx.Err(), error(syscall.EROFS))
	}
	if err := db.pace(ctx); err != nil {
		return err
	}
	return db.keep(ctx, true, db.unlessSealed(fn))
}

// unlessSealed is fn, refused at its end if SetReadOnly came meanwhile.
func (db *DB) unlessSealed(fn func(*Tx) error) func(*Tx) error {
	return func(tx *Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		if db.ReadOnly() {
			return syscall.EROFS
		}
		return nil
	}
}

// Keep is an Update that SetReadOnly does not refuse, and that is as durable as a Stage. It is for the rows that announce the
// open files of this process to others. They must not go stale while the process only reads, and need not outlive it. Keep
// also writes to a file that was moved.
func (db *DB) Keep(ctx context.Context, fn func(*Tx) error) error {
	return db.keep(ctx, true, func(tx *Tx) error {
		tx.anywhere = true
		return fn(tx)
	})
}

// keep is one transaction. If it is lazy, its commit is not synced.
func (db *DB) keep(ctx context.Context, lazy bool, fn func(*Tx) error) error {
	return db.write(ctx, func() bool { return db.options.Relaxed || lazy && db.writer.mended }, fn)
}

// write is one transaction. lazy is asked once it is its turn.
func (db *DB) write(ctx context.Context, lazy func() bool, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.options.ReadOnly {
		return syscall.EROFS
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()

	// patience starts a timer, so a token that is free is taken without it.
	select {
	case db.writing <- struct{}{}:
	default:
		select {
		case db.writing <- struct{}{}:
		case <-ctx.Done():
			return waited(ctx)
		case <-patience(ctx):
			return waited(ctx)
		}
	}
	defer func() {
		db.writer.lazy = db.options.Relaxed
		<-db.writing
	}()

	db.writer.lazy = lazy()
	db.boundLog()
	if err := db.writer.run(ctx, true, fn); err != nil {
		return err
	}
	if db.writer.lazy {
		db.unsynced.Store(true)
	}
	db.foldLog()
	return nil
}

// reader takes an idle reading connection, or opens one.
func (db *DB) reader(ctx context.Context) (*conn, error) {
	if c := db.warm.Swap(nil); c != nil {
		return c, nil
	}
	select {
	case c := <-db.readers:
		return c, nil
	default:
	}

	if db.options.ReadOnly && db.writer == nil && len(db.slots) == 0 {
		return nil, fs.ErrClosed
	}

	select {
	case c := <-db.readers:
		return c, nil
	case db.slots <- struct{}{}:
		c, err := db.dial(roleReader)
		if err != nil {
			<-db.slots
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		return nil, waited(ctx)
	case <-patience(ctx):
		return nil, waited(ctx)
	}
}

// dial opens one more connection. A file that was moved away or replaced meanwhile is ESTALE: another file must not answer
// in its place.
func (db *DB) dial(r role) (*conn, error) {
	if err := db.InPlace(); err != nil {
		return nil, err
	}
	c, err := connect(db.path, db.options)
	if err != nil {
		return nil, err
	}
	if !c.isOf(db.place.file) {
		err = moved(db.path)
	} else {
		err = c.setUp(db.options, r)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	c.old, c.index = db.old, db.index
	return c, nil
}

// release gives a reading connection back. The one that was used last is used next, since its cache is warm, unless a reader
// may be waiting for any.
func (db *DB) release(c *conn) {
	if len(db.slots) < cap(db.slots) && db.warm.CompareAndSwap(nil, c) {
		return
	}
	select {
	case db.readers <- c:
	default:
		c.close()
		<-db.slots
	}
}

// MaxWait is how long a transaction waits for another writer when its context has no deadline.
const MaxWait = 30 * time.Second

// patience returns a channel that ends a wait which begins now after MaxWait; nil if ctx has a deadline, which ends it.
func patience(ctx context.Context) <-chan time.Time {
	if _, ok := ctx.Deadline(); ok {
		return nil
	}
	return time.After(MaxWait)
}

// waited returns the error of a wait for a lock that ended without it: EBUSY, and the error of ctx if that has ended.
func waited(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", syscall.EBUSY, err)
	}
	return syscall.EBUSY
}

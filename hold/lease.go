package hold

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"vfsdb/schema"
)

// A Lease speaks for one open store of this process to the collectors of all others. It has a row while files are open or
// streams run, and a heartbeat that keeps the row alive. It is safe for concurrent use.
//
// Its methods may write. They must not be called inside a transaction, except Drop and Leave.
type Lease struct {
	db     *schema.DB
	pins   func() []Pin
	orphan func(*schema.Tx) (int64, error) // the newest one
	pace   pace
	mute   bool // the file is open read-only, so no row can be had

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	done sync.WaitGroup // the heartbeat
	wake chan struct{}  // the last stream has ended
	turn chan struct{}  // held while our row changes: taken before any transaction, never inside one

	mu      sync.Mutex // guards the fields below; nobody waits for the database while holding it
	closed  bool
	id      int64  // our row; 0 if there is none
	file    string // that it is in, see schema.Tx.ID
	beating bool   // the heartbeat runs
	holds   int    // open files
	streams int    // streams that staged something
	staged  bool   // a stream has lowered the floor, or pinned, since the row was reset
	since   time.Time
	round   int64     // that the row answers
	beat    time.Time // that the row has
}

// pace is how fast a lease lives. Tests hurry.
type pace struct {
	look time.Duration // between two looks at the requests of collectors
	beat time.Duration // between two heartbeats
	idle time.Duration // until the row of a lease that nobody holds goes
}

// NewLease returns the lease of an open store. Publish calls pins, outside of any transaction, for the needs of the open
// files; a nil pins means that there are no open files. A file must be in pins from before it is looked up, or be looked up
// again after Hold: only then can it not disappear in between. A mutex that pins waits for must not be held by a caller of
// any method but Drop. orphan returns the newest orphan, which the row names for people who inspect the file; nil means
// none.
func NewLease(db *schema.DB, pins func() []Pin, orphan func(*schema.Tx) (int64, error)) *Lease {
	if pins == nil {
		pins = func() []Pin { return nil }
	}
	if orphan == nil {
		orphan = func(*schema.Tx) (int64, error) { return 0, nil }
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Lease{
		db: db, pins: pins, orphan: orphan, ctx: ctx, stop: stop, mute: db.ReadOnly(),
		pace: pace{look: time.Second, beat: 20 * time.Second, idle: 5 * time.Second},
		wake: make(chan struct{}, 1),
		turn: make(chan struct{}, 1),
	}
}

// Hold begins the use of a file: once it returns there is a row that collectors heed. Each Hold that returned nil is
// ended by one Drop. In a store that is open read-only Hold does nothing, so files there are not kept. A full disk, or a
// file that we may not write, must not keep anybody from reading: Hold goes on without a row, and the heartbeat makes one
// once it can.
func (l *Lease) Hold(ctx context.Context) error {
	if l.mute {
		return nil
	}
	l.mu.Lock()
	l.holds++
	l.mu.Unlock()
	if _, err := l.row(ctx); err != nil && !noRoom(err) {
		l.Drop()
		return err
	}
	return nil
}

// Drop ends the use of a file. The row stays for a while, in case that another file opens. Drop does not write, and may
// be called anywhere.
func (l *Lease) Drop() {
	if l.mute {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds == 0 {
		panic("hold: Drop without Hold")
	}
	l.holds--
	l.since = time.Now()
}

// Join begins a stream that stages, and returns the row that it stages under. Each Join that returned nil is ended by one
// Leave.
func (l *Lease) Join(ctx context.Context) (id int64, err error) {
	l.mu.Lock()
	l.streams++
	l.staged = true
	l.mu.Unlock()
	if id, err = l.row(ctx); err != nil {
		l.Leave()
	}
	return id, err
}

// Leave ends a stream that had joined: the blobs that it staged are in use, or garbage. Leave does not write, and may be
// called anywhere.
func (l *Lease) Leave() {
	l.mu.Lock()
	l.streams--
	l.since = time.Now()
	last := l.streams == 0
	l.mu.Unlock()
	if last {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// Replace returns a row to stage under in place of row id, which a collector has deleted because it took us for dead.
func (l *Lease) Replace(ctx context.Context, id int64) (int64, error) {
	l.mu.Lock()
	if l.id == id {
		l.id = 0
	}
	l.mu.Unlock()
	return l.row(ctx)
}

// row returns the id of our row. If there is none it makes one.
func (l *Lease) row(ctx context.Context) (int64, error) {
	if id, err := l.known(); id != 0 || err != nil {
		return id, err
	}
	if err := l.take(ctx); err != nil {
		return 0, err
	}
	defer l.give()
	if id, err := l.known(); id != 0 || err != nil {
		return id, err
	}
	if err := l.publish(ctx); err != nil {
		return 0, err
	}
	return l.known()
}

func (l *Lease) known() (id int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, fs.ErrClosed
	}
	return l.id, nil
}

func (l *Lease) take(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Lease) give() { <-l.turn }

// Publish writes the present pins, and the number of the collector's request that they answer.
func (l *Lease) Publish(ctx context.Context) error {
	if l.mute {
		return nil
	}
	if err := l.take(ctx); err != nil {
		return err
	}
	defer l.give()
	if _, err := l.known(); err != nil {
		return err
	}
	return l.publish(ctx)
}

// Answer is Publish, if the lease has a row at all. A collector of this process calls it rather than wait for the
// heartbeat.
func (l *Lease) Answer(ctx context.Context) error {
	if id, err := l.known(); id == 0 || err != nil {
		return err
	}
	return l.Publish(ctx)
}

// publish is Publish in its turn.
func (l *Lease) publish(ctx context.Context) error {
	// The mark is read before the pins: they answer no later request.
	at, err := l.mark(ctx)
	if err != nil {
		return fmt.Errorf("publish lease: %w", err)
	}
	pins := l.pins()
	now := time.Now()

	var id int64
	var file string
	var quiet bool
	err = l.db.Keep(ctx, func(tx *schema.Tx) (err error) {
		if file, err = tx.ID(); err != nil {
			return err
		}

		// A stream that joins from now on stages after this transaction.
		l.mu.Lock()
		id, quiet = l.id, l.streams == 0
		l.staged = l.staged && !quiet
		l.mu.Unlock()

		if id, err = putLease(tx, id, at, now, quiet); err != nil {
			return err
		}
		for _, p := range pins {
			if err := AddPin(tx, id, p); err != nil {
				return err
			}
		}
		return nil
	})

	l.mu.Lock()
	defer l.mu.Unlock()
	if (err == nil || noRoom(err)) && !l.beating && !l.closed {
		l.beating, l.since = true, now
		l.done.Go(l.heart)
	}
	if err != nil {
		l.staged = l.staged || quiet
		return fmt.Errorf("publish lease: %w", err)
	}
	l.id, l.file, l.round, l.beat = id, file, at.round, now
	left.Delete(leftRow{file, id})
	return nil
}

// A mark is a point in time, as collectors count it.
type mark struct {
	round  int64 // the last request to publish
	orphan int64 // the newest orphan
}

// mark returns the present point in time.
func (l *Lease) mark(ctx context.Context) (m mark, err error) {
	err = l.db.View(ctx, func(tx *schema.Tx) (err error) {
		if m.round, err = currentRound(tx); err != nil {
			return err
		}
		m.orphan, err = l.orphan(tx)
		return err
	})
	return m, err
}

// noRoom reports whether a row was not written because nothing can be written at all.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) }

// Close ends the heartbeat and deletes the row. The store must still be open. Later calls do nothing. A row that cannot
// be deleted holds up no collector of this process, and those of others for a minute.
func (l *Lease) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()

	// A transaction that has begun its turn ends it first.
	l.stop()
	l.done.Wait()
	l.turn <- struct{}{}
	defer l.give()

	l.mu.Lock()
	id, file := l.id, l.file
	l.id = 0
	l.mu.Unlock()
	if id == 0 {
		return nil
	}
	if err := l.delete(context.Background(), id); err != nil {
		left.Store(leftRow{file, id}, true)
		return fmt.Errorf("close lease: %w", err)
	}
	return nil
}

func (l *Lease) delete(ctx context.Context, id int64) error {
	return l.db.Keep(ctx, func(tx *schema.Tx) error { return dropLease(tx, id) })
}

package chunk

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

// A Lease speaks for one open database of this process to the collectors of all others: it has a row while files are
// open or streams run, and a heartbeat that keeps the row alive. It is safe for concurrent use.
//
// Its methods may write. They must not be called inside a transaction, except Drop.
type Lease struct {
	db   *schema.DB
	pins func() []Pin
	pace pace
	mute bool // the file is open read-only, so no row can be had

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	done sync.WaitGroup // the heartbeat
	wake chan struct{}  // tells the heartbeat that the last stream ended
	turn chan struct{}  // held by whoever changes our row: before any transaction, never inside one

	mu      sync.Mutex // guards what follows; nobody waits for the database while holding it
	closed  bool
	id      int64  // our row; 0 if there is none
	file    string // that it is in, see schema.Tx.ID
	beating bool   // the heartbeat runs
	holds   int    // open files
	streams int    // streams that staged something
	staged  bool   // a stream has lowered the floor, or pinned, since the row said otherwise
	since   time.Time
	round   int64     // that the row says
	beat    time.Time // that the row says
}

// pace is how fast a lease lives. Tests hurry.
type pace struct {
	look time.Duration // between two looks at what collectors ask for
	beat time.Duration // between two heartbeats
	idle time.Duration // until the row of a lease that nobody holds goes
}

// NewLease returns the lease of an open database. Publish calls pins, outside any transaction, to learn what is open.
// What is open must be in pins from before it is looked up, or be looked up again after Hold: only then can it not
// disappear in between. A mutex that pins waits for must not be held by a caller of any method but Drop.
func NewLease(db *schema.DB, pins func() []Pin) *Lease {
	if pins == nil {
		pins = func() []Pin { return nil }
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Lease{
		db: db, pins: pins, ctx: ctx, stop: stop, mute: db.ReadOnly(),
		pace: pace{look: time.Second, beat: 20 * time.Second, idle: 5 * time.Second},
		wake: make(chan struct{}, 1),
		turn: make(chan struct{}, 1),
	}
}

// Hold says that a file opens: from its return on there is a row that collectors heed. Each Hold that returned nil is
// ended by one Drop. In a database that is open read-only, Hold does nothing, so files there are not kept. A full disk,
// or a file that we may not write, must not keep anybody from reading: Hold goes on without a row, and the heartbeat
// makes one once it can.
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

// Drop says that a file closed. The row stays for a while, in case that another opens. Drop does not write, and may be
// called anywhere.
func (l *Lease) Drop() {
	if l.mute {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds == 0 {
		panic("chunk: Drop without Hold")
	}
	l.holds--
	l.since = time.Now()
}

// join says that a stream is about to stage, and returns the row that it does so under.
func (l *Lease) join(ctx context.Context) (id int64, err error) {
	l.mu.Lock()
	l.streams++
	l.staged = true
	l.mu.Unlock()
	if id, err = l.row(ctx); err != nil {
		l.leave()
	}
	return id, err
}

// leave says that a stream that had joined is over: what it staged is committed, or is garbage.
func (l *Lease) leave() {
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

// lost says that row id is gone, because a collector took us for dead, and returns another.
func (l *Lease) lost(ctx context.Context, id int64) (int64, error) {
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

// Publish writes down what is open now, and which request of a collector this answers.
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

// publish does so in its turn. The mark is read first: what a collector asks for, and what loses its name, after that
// is not answered by the pins, and the row says so.
func (l *Lease) publish(ctx context.Context) error {
	var at mark
	err := l.db.View(ctx, func(tx *schema.Tx) (err error) {
		at, err = readMark(tx)
		return err
	})
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
		l.mu.Lock()
		id, quiet = l.id, l.streams == 0 // a stream that joins from now on stages after this transaction
		l.staged = l.staged && !quiet
		l.mu.Unlock()
		id, err = putLease(tx, id, at, now, quiet)
		if err != nil {
			return err
		}
		for _, p := range pins {
			if err := addPin(tx, id, p); err != nil {
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

// noRoom reports whether a row was not written because nothing can be written at all.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) }

// Close ends the heartbeat and deletes the row. The database must still be open. Later calls do nothing. A row that
// cannot be deleted holds up no collector of this process, and those of others for a minute.
func (l *Lease) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
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

// putLease writes our row and deletes the pins that are to be made anew, and returns the row's id, which is another one
// if the row was gone. While streams run it leaves alone what they rely on: floor, and pinned blobs.
func putLease(tx *schema.Tx, id int64, at mark, now time.Time, quiet bool) (int64, error) {
	text, drop := `UPDATE lease SET orphan = ?, round = ?, beat = ? WHERE id = ?`, dropFilePins
	if quiet {
		text, drop = `UPDATE lease SET orphan = ?, round = ?, beat = ?, floor = 9223372036854775807 WHERE id = ?`, dropPins
	}
	if id != 0 {
		switch n, err := tx.Exec(text, at.orphan, at.round, now.UnixNano(), id); {
		case err != nil:
			return 0, err
		case n != 0:
			return id, drop(tx, id)
		}
	}
	_, err := tx.Exec(`INSERT INTO lease (owner, floor, orphan, round, beat) VALUES (?, 9223372036854775807, ?, ?, ?)`,
		owner(), at.orphan, at.round, now.UnixNano())
	return tx.LastID(), err
}

// errNoLease says that a collector took us for dead.
var errNoLease = errors.New("the lease is gone")

// stageUnder lowers the floor of a lease below all blobs that are added from now on, and counts as a heartbeat.
func stageUnder(tx *schema.Tx, id int64, now time.Time) error {
	newest, err := maxBlob(tx)
	if err != nil {
		return err
	}
	n, err := tx.Exec(`UPDATE lease SET floor = min(floor, ?), beat = ? WHERE id = ?`, newest, now.UnixNano(), id)
	if err == nil && n == 0 {
		err = errNoLease
	}
	return err
}

func hasLease(tx *schema.Tx, id int64) (bool, error) {
	_, ok, err := tx.Int(`SELECT id FROM lease WHERE id = ?`, id)
	return ok, err
}

func dropLease(tx *schema.Tx, id int64) error {
	if err := dropPins(tx, id); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM lease WHERE id = ?`, id)
	return err
}

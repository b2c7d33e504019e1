package schema

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"vfsdb/schema/engine"
)

// Commits append pages to the log, and a checkpoint folds them into the file. A checkpoint needs no write lock, so a
// goroutine with a connection of its own, the checkpointer, does it beside the writers. But the log restarts only when a
// writer finds all of it folded, and beside a writer that never rests something is always left. So once the log is long,
// the checkpointer takes the write lock to fold the rest. Where each commit is synced it does so earlier, because the host
// syncs pages that are written over in half the time of pages that make the log longer.
//
// These are the lengths of the log, as parts of DB.logLimit, at which that happens.
const (
	logLimit = 64 << 20 // in bytes: a writer waits until the log restarts, or a reader has kept it from that

	foldPart    = 8  // with this much left to fold, the checkpointer starts
	stagePart   = 16 // the same after a commit that was not synced: the next commit would wait for it
	restartPart = 2  // from this length on the log restarts, once no more than leftPart is left to fold
	earlyPart   = 8  // the same where commits are synced
	leftPart    = 32
	pacePart    = 4 // from this far below the limit on, Stage waits for the checkpointer
)

// logMark returns a part of the limit, in pages.
func (db *DB) logMark(part int64) int64 { return db.logLimit / part / PageSize }

// A checkpointer folds the log into the file.
type checkpointer struct {
	db *DB

	mu   sync.Mutex // held during a checkpoint; taken after the write lock where both are needed
	conn *conn      // nil until it is needed

	synced atomic.Bool // the last commit was

	// Of the goroutine, which is started once there is something to fold.
	state sync.Mutex
	wake  chan struct{} // nil until it is started
	stop  chan struct{}
	ended chan struct{}
	rest  chan struct{} // closed when it rests; nil while it does
	again bool          // it was started again while it was folding
	stuck int64         // length of the log when a reader last kept it from restarting; 0 once it did
}

// A logState is the state of the log as SQLite reports it, in pages.
type logState struct {
	busy   bool  // the checkpoint could not do all
	length int64 // of the log; pages that the next commit will write over still count
	folded int64
}

func (s logState) left() int64 { return s.length - s.folded }

// checkpoint has SQLite fold the log. PASSIVE waits for nobody. RESTART and TRUNCATE take the write lock and wait for
// readers, if there is a busy timeout. NOOP only reports the state, needs no lock, and takes 3 us. A checkpoint whose sync
// failed is done once more: the failure may be an old one, of pages that were copied long ago, and the second checkpoint
// copies all of the log anew.
func (c *conn) checkpoint(mode string) (s logState, err error) {
	s, err = c.checkpointOnce(mode)
	if errors.Is(err, syscall.EIO) {
		c.failed = true
		s, err = c.checkpointOnce(mode)
	}
	return s, err
}

func (c *conn) checkpointOnce(mode string) (s logState, err error) {
	text := "PRAGMA wal_checkpoint(" + mode + ")"
	stmt := c.frame[text]
	if stmt == nil {
		if stmt, _, err = c.sq.PrepareTransient(text); err != nil {
			return s, mapError(err)
		}
		c.frame[text] = stmt
	}
	row, err := stmt.Step()
	if row { // a number that is not known is -1
		s = logState{stmt.ColumnInt64(0) != 0, max(0, stmt.ColumnInt64(1)), max(0, stmt.ColumnInt64(2))}
	}
	if resetErr := stmt.Reset(); err == nil {
		err = resetErr
	}
	return s, mapError(err)
}

// Checkpoint folds as much of the log into the file as it can without waiting for readers or for the write lock, and
// returns how many pages of the log are left.
func (db *DB) Checkpoint(ctx context.Context) (left int64, err error) {
	if db.options.ReadOnly {
		return 0, nil
	}
	if err := db.enter(); err != nil {
		return 0, err
	}
	defer db.users.Done()
	err = retry(ctx, func() error {
		s, err := db.checkpointer.run("PASSIVE", 0)
		if err == nil && s.busy {
			err = syscall.EBUSY // another process is at it
		}
		left = s.left()
		return err
	})
	return left, err
}

// pace waits while the log is long and the checkpointer folds it. Close waits for pace, so the checkpointer does not end
// before.
func (db *DB) pace(ctx context.Context) error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.users.Done()
	if db.logLength.Load() < db.logMark(1)-db.logMark(pacePart) {
		return nil
	}

	db.checkpointer.state.Lock()
	rest := db.checkpointer.rest
	db.checkpointer.state.Unlock()
	if rest == nil {
		return nil
	}
	select {
	case <-rest:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// foldLog starts the checkpointer after a commit if the log is long.
func (db *DB) foldLog() {
	s, err := db.writer.checkpoint("NOOP")
	if err != nil {
		return
	}
	db.logLength.Store(s.length)
	db.checkpointer.synced.Store(!db.writer.lazy)
	worth := int64(foldPart)
	if db.writer.lazy {
		worth = stagePart
	}
	if s.left() >= db.logMark(worth) || s.length >= db.logMark(restartPart) {
		db.checkpointer.start()
	}
}

// boundLog empties a log that has reached its limit, before a writer writes more. The writer that reached the limit did
// not wait for that, and nobody waits if the checkpointer has restarted the log meanwhile.
func (db *DB) boundLog() {
	if db.logLength.Load() < db.logMark(1) {
		db.longLog = 0
		return
	}
	s, err := db.writer.checkpoint("NOOP")
	if err != nil {
		return
	}

	// A reader that never ends must not stop all writers: they wait for it once, again when the log has grown much, and
	// try without waiting in between.
	patience := time.Duration(0)
	if db.longLog == 0 || s.length >= db.longLog+db.logMark(foldPart) {
		db.longLog, patience = s.length, readerPatience
	}
	if db.emptyLog(patience) {
		db.longLog = 0
		db.logLength.Store(0)
	}
}

// Trim gives back the memory of the writer's cache, which a stream has filled with pages that nobody will ask for. It does
// nothing while somebody writes.
func (db *DB) Trim() {
	if db.writer == nil || db.enter() != nil {
		return
	}
	defer db.users.Done()
	select {
	case db.writing <- struct{}{}:
		_ = db.writer.pragma("shrink_memory")
		<-db.writing
	default:
	}
}

const (
	readerPatience    = 50 * time.Millisecond // of a writer, once the log has reached its limit
	restartPatience   = 5 * time.Millisecond  // of the checkpointer, while it has the write lock
	checkpointerPause = 5 * time.Millisecond  // of one that cannot go on
)

// emptyLog folds the log into the file and empties it. It waits for readers no longer than patience, and reports whether
// the log is empty.
func (db *DB) emptyLog(patience time.Duration) bool {
	db.checkpointer.mu.Lock() // else its checkpoint would be in the way of ours
	defer db.checkpointer.mu.Unlock()

	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		s, err := db.writer.checkpoint("TRUNCATE")
		switch {
		case err == nil && !s.busy:
			return true
		case err != nil && err != syscall.EBUSY, time.Since(began) >= patience:
			return false
		}
	}
}

// run is one checkpoint on the checkpointer's own connection, which it opens if need be.
func (k *checkpointer) run(mode string, patience time.Duration) (logState, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn == nil {
		c, err := k.db.dial(roleCheckpointer)
		if err != nil {
			return logState{}, err
		}
		if _, err := c.pragmaInt("schema_version"); err != nil { // which opens the log
			c.close()
			return logState{}, err
		}
		_ = engine.SyncCheckpoints(c.sq) // if it fails, the sync is done at the end, with the write lock
		k.conn = c
	}
	k.conn.sq.SetBusyTimeout(patience)
	return k.conn.checkpoint(mode)
}

// start has the goroutine look at the log. One transaction at a time calls it.
func (k *checkpointer) start() {
	k.state.Lock()
	defer k.state.Unlock()
	if k.wake == nil {
		k.wake, k.stop, k.ended = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		go k.work()
	}
	if k.rest != nil {
		k.again = true // it may have looked at the log for the last time already
		return
	}
	k.rest = make(chan struct{})
	k.wake <- struct{}{} // it rests, so there is room
}

// close ends the goroutine and the connection. Nobody uses the DB any more.
func (k *checkpointer) close() error {
	if k.wake != nil {
		close(k.stop)
		<-k.ended
	}
	if k.conn == nil {
		return nil
	}
	if k.conn.failed {
		// The host reports that failure to the writer's descriptor too. Have it do so now: the checkpoint with which the
		// last connection closes the file is not done again.
		_, _ = k.db.writer.checkpoint("PASSIVE")
	}
	return k.conn.close()
}

func (k *checkpointer) work() {
	defer close(k.ended)
	for {
		select {
		case <-k.wake:
		case <-k.stop:
			return
		}
		for more := true; more; {
			k.fold()
			more = k.goesOn()
		}
	}
}

// goesOn reports whether the goroutine was started again while it folded; if not it rests. Writers that wait for it go on
// either way.
func (k *checkpointer) goesOn() bool {
	k.state.Lock()
	defer k.state.Unlock()
	more := k.again && !k.stopped()
	close(k.rest)
	k.rest, k.again = nil, false
	if more {
		k.rest = make(chan struct{})
	}
	return more
}

// fold folds until little is left, and restarts the log if it is long.
func (k *checkpointer) fold() {
	for last := int64(Forever); !k.stopped(); {
		was, err := k.run("PASSIVE", 0)
		if err != nil || was.busy { // another process is at it
			k.pause()
			return
		}

		// The next step depends on the log as it is now, with the commits that came meanwhile.
		now, err := k.run("NOOP", 0)
		if err != nil {
			return
		}
		switch k.db.decide(was, now, last, k.synced.Load()) {
		case foldAnew:
			k.restart(now.length)
			return
		case foldLater:
			k.pause()
			return
		case foldDone:
			return
		}
		last = now.left()
	}
}

// A decision is the step after a checkpoint.
type decision int

const (
	foldMore decision = iota
	foldDone
	foldLater // a reader is in the way
	foldAnew  // little is left, or more will always be: restart
)

// decide returns the step after a checkpoint. was is the state that it left, now the state with the commits since, and last
// the number of pages that the checkpoint before it left.
func (db *DB) decide(was, now logState, last int64, synced bool) decision {
	little, long := db.logMark(leftPart), now.length >= db.logMark(restartPart)
	switch {
	case now.left() <= little && (long || synced && now.length >= db.logMark(earlyPart)):
		return foldAnew
	case !long && now.left() < db.logMark(foldPart):
		return foldDone
	case was.left() > little: // a reader keeps it from being folded
		return foldLater
	case long && now.left() >= last: // we are no faster than the writers
		return foldAnew
	}
	return foldMore
}

// restart folds the rest under the write lock, so that the next commit restarts the log. When a reader keeps it from that,
// it is tried again once the log has grown much.
func (k *checkpointer) restart(length int64) {
	if k.stuck > 0 && k.stuck <= length && length < k.stuck+k.db.logMark(foldPart) {
		k.pause()
		return
	}
	select {
	case k.db.writing <- struct{}{}:
	case <-k.stop:
		return
	}
	defer func() { <-k.db.writing }()

	k.stuck = length
	patience := restartPatience
	if length < k.db.logMark(restartPart) {
		patience = 0 // it is not worth that
	}
	if s, err := k.run("RESTART", patience); err == nil && !s.busy {
		k.stuck = 0
		k.db.logLength.Store(0)
	}
}

func (k *checkpointer) stopped() bool {
	select {
	case <-k.stop:
		return true
	default:
		return false
	}
}

// pause keeps a checkpointer that cannot go on from trying at every commit.
func (k *checkpointer) pause() {
	timer := time.NewTimer(checkpointerPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-k.stop:
	}
}

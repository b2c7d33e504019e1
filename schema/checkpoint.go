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

// Commits append pages to the log, and a checkpoint folds them into the file. It needs no write lock, so a goroutine
// with a connection of its own does it beside the writers: the checkpointer. But the log is begun anew only by a writer
// that finds all of it folded, and beside a writer that never rests there is always something left. So, once the log is
// long, the checkpointer takes the write lock for what little is left. Where each commit is synced that is done
// earlier, because it takes the host half as long to sync what is written over as what makes the log longer. These are
// the lengths at which things happen, as parts of DB.logLimit.
const (
	logLimit = 64 << 20 // of bytes: a writer does not go on before the log is begun anew, or a reader has kept it from that

	foldPart    = 8  // so much is worth folding
	stagePart   = 16 // or so much, if it is not synced: whoever commits next would have to wait for it
	restartPart = 2  // the write lock is taken if less than leftPart is left to fold
	earlyPart   = 8  // so is it here, if commits are synced
	leftPart    = 32
	pacePart    = 4 // this far from the limit, who writes much waits
)

// logMark returns a part of the limit, in pages.
func (db *DB) logMark(part int64) int64 { return db.logLimit / part / PageSize }

// A checkpointer folds the log into the file.
type checkpointer struct {
	db *DB

	mu   sync.Mutex // held during a checkpoint; whoever wants the write lock too takes that one first
	conn *conn      // nil until it is needed

	synced atomic.Bool // the last commit was

	// Of the goroutine, which is started once there is something to fold.
	state sync.Mutex
	wake  chan struct{} // nil until it is started
	stop  chan struct{}
	ended chan struct{}
	rest  chan struct{} // closed when it rests; nil while it does
	again bool          // there was more to fold while it did not
	stuck int64         // how long the log was when a reader kept it from being begun anew; 0 once that was done
}

// A logState is what SQLite tells of the log, in pages.
type logState struct {
	busy   bool  // not all could be done
	length int64 // of the log; what the next commit will write over still counts
	folded int64
}

func (s logState) left() int64 { return s.length - s.folded }

// checkpoint has SQLite fold the log. PASSIVE waits for nobody. RESTART and TRUNCATE take the write lock and wait for
// readers, if there is a busy timeout. NOOP does nothing, needs no lock, and takes 3 us. One whose sync failed is done
// again, once: it may have been told of what was copied, and failed, long ago, and now all of the log is copied anew.
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
	if row { // what is not known is -1
		s = logState{stmt.ColumnInt64(0) != 0, max(0, stmt.ColumnInt64(1)), max(0, stmt.ColumnInt64(2))}
	}
	if resetErr := stmt.Reset(); err == nil {
		err = resetErr
	}
	return s, mapError(err)
}

// Checkpoint moves what it can from the WAL into the file, without waiting for readers or for the write lock, and
// returns how many pages of the WAL are left to move.
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

// pace waits while the log is long and is being folded into the file. Close waits for it: what nobody folds any more is
// not waited for.
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

// foldLog sees to the log after a commit.
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

// boundLog empties a log that has reached its limit, before more is written. Whoever made it so long has not waited for
// that, and if the checkpointer was done with it meanwhile nobody does.
func (db *DB) boundLog() {
	if db.logLength.Load() < db.logMark(1) {
		db.longLog = 0
		return
	}
	s, err := db.writer.checkpoint("NOOP")
	if err != nil {
		return
	}
	// A reader that never ends must not stop all writers: they wait for it once, and again when the log has grown much,
	// and in between try without waiting.
	patience := time.Duration(0)
	if db.longLog == 0 || s.length >= db.longLog+db.logMark(foldPart) {
		db.longLog, patience = s.length, readerPatience
	}
	if db.emptyLog(patience) {
		db.longLog = 0
		db.logLength.Store(0)
	}
}

// Trim gives memory back that a stream has filled with pages nobody will ask for. It does nothing while somebody
// writes.
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

// emptyLog folds the log into the file and empties it. It waits for readers only shortly, and reports whether it could.
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
		_ = engine.SyncCheckpoints(c.sq) // or it is done at the end, with the write lock
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
		// The writer's descriptor is told of that failure too. Let it be now: the checkpoint with which the last one
		// closes the file is not done again.
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

// goesOn reports whether there was more to fold meanwhile; else the goroutine rests. Writers that wait for it go on
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

// fold folds until there is little left, and begins the log anew if it is long.
func (k *checkpointer) fold() {
	for last := int64(Forever); !k.stopped(); {
		was, err := k.run("PASSIVE", 0)
		if err != nil || was.busy { // another process is at it
			k.pause()
			return
		}
		now, err := k.run("NOOP", 0) // with what was committed meanwhile
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

// What comes after a checkpoint.
type decision int

const (
	foldMore decision = iota
	foldDone
	foldLater // a reader is in the way
	foldAnew  // it is little, or will never be
)

// decide tells what comes after a checkpoint that left was, when what was committed meanwhile makes it now, and the one
// before left last.
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

// restart folds the rest under the write lock, so that the next commit begins the log anew. When a reader kept it from
// that, it is tried again once the log has grown much.
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

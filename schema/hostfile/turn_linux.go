package hostfile

import (
	"context"
	"sync"
	"time"
)

// The lengths of a turn. To hand it on, the host has to wake another process, which takes as long as a small commit, and
// much longer on a busy machine. So a turn lasts for some commits, if they follow upon each other.
const (
	TurnCommits  = 8 // of one turn, at most
	turnTime     = 20 * time.Millisecond
	turnGrace    = 200 * time.Microsecond // between two commits of a turn
	turnPatience = time.Second
)

// Turns is the place of one DB among the processes that write. The methods are for the holder of its writing token. A
// nil one lets everybody write at any time.
type Turns struct {
	locks    locks
	Patience time.Duration // for the turn, before the caller tries without
	held     bool
	began    time.Time
	commits  int // of the turn while others wait; 0 if it ended and nobody waited

	mu     sync.Mutex
	kept   bool          // the turn lasts, though nobody writes
	grace  *time.Timer   // ends that; nil until it is needed
	coming chan struct{} // closed once the goroutine in the line has the turn; nil if there is none
	wanted bool          // somebody waits for that goroutine
	stuck  bool          // somebody has waited for it as long as Patience
	closed bool
}

// OpenTurns opens the locks of a log. It returns nil if the host has no such locks for the log.
func OpenTurns(log string) *Turns {
	l, err := openLocks(log)
	if err != nil {
		return nil
	}
	return &Turns{locks: l, Patience: turnPatience}
}

// Take waits for the turn, and fails if ctx ends first. When the turn does not come it returns nil too: the caller tries
// without.
func (t *Turns) Take(ctx context.Context) error {
	if t == nil || t.retake() {
		return nil
	}

	// A turn that is free is taken at once; else a goroutine stands in the line for it.
	t.mu.Lock()
	if t.stuck {
		t.mu.Unlock()
		return nil
	}
	if t.coming == nil && t.free() {
		t.mu.Unlock()
		t.begin()
		return nil
	}
	if t.coming == nil {
		t.coming = make(chan struct{})
		go t.stand(t.coming)
	}
	coming := t.coming
	t.wanted = true
	t.mu.Unlock()

	tired := time.NewTimer(t.Patience)
	defer tired.Stop()
	select {
	case <-coming:
		t.begin()
		return nil
	case <-ctx.Done():
	case <-tired.C:
	}

	// The turn may have come just now.
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = false
	switch {
	case t.coming == nil && ctx.Err() != nil:
		t.locks.unlock(turnLock)
	case t.coming == nil:
		t.begin()
	case ctx.Err() == nil:
		t.stuck = true
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

func (t *Turns) begin() { t.held, t.commits, t.began = true, 0, time.Now() }

// retake goes on with a turn that was kept.
func (t *Turns) retake() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.kept {
		return false
	}
	t.grace.Stop()
	t.kept, t.held = false, true
	return true
}

// free takes the turn if nobody has it. After a turn during which others waited it lets them go first.
func (t *Turns) free() bool {
	if t.commits == 0 {
		return t.locks.try(turnLock)
	}
	if !t.locks.try(lineLock) {
		return false
	}
	defer t.locks.unlock(lineLock)
	return t.locks.try(turnLock)
}

// stand waits in the line for the turn, and passes it on at once if nobody wants it any more. It cannot be interrupted: it may
// outlive its DB, until those before it have had their turns.
func (t *Turns) stand(coming chan struct{}) {
	t.locks.wait(lineLock)
	t.locks.wait(turnLock)
	t.locks.unlock(lineLock)

	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.wanted {
		t.locks.unlock(turnLock)
	}
	t.coming, t.wanted, t.stuck = nil, false, false
	close(coming)
	if t.closed {
		t.locks.close()
	}
}

// Pass is called after a transaction. It ends the turn, unless others wait and it may last longer.
func (t *Turns) Pass() {
	if t == nil || !t.held {
		return
	}
	t.held = false
	if !t.locks.taken(lineLock) {
		t.commits = 0
		t.locks.unlock(turnLock)
		return
	}

	t.commits++
	if t.commits >= TurnCommits || time.Since(t.began) >= turnTime {
		t.locks.unlock(turnLock)
		return
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = true
	if t.grace == nil {
		t.grace = time.AfterFunc(turnGrace, t.letGo)
	} else {
		t.grace.Reset(turnGrace)
	}
}

// letGo ends a turn that was kept in vain.
func (t *Turns) letGo() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept {
		t.kept = false
		t.locks.unlock(turnLock)
	}
}

// Close gives up the turn, and frees the locks once no goroutine stands in the line.
func (t *Turns) Close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.grace != nil {
		t.grace.Stop()
	}
	t.kept = false // closing frees it
	if t.closed = true; t.coming == nil {
		t.locks.close()
	}
}

package hold

import (
	"time"

	"vfsdb/schema"
)

// heart runs while we have a row, or would have one if there were space. A beat that fails is tried again at the next
// look. Meanwhile the row grows old, which is right.
func (l *Lease) heart() {
	tick := time.NewTicker(l.pace.look)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-tick.C:
		case <-l.wake:
		}
		if !l.look() {
			return
		}
	}
}

// look publishes or deletes the row if that is due, and reports whether the heartbeat goes on.
func (l *Lease) look() bool {
	if l.take(l.ctx) != nil {
		return false
	}
	defer l.give()

	l.mu.Lock()
	idle := l.holds == 0 && l.streams == 0 && time.Since(l.since) >= l.pace.idle
	id, round := l.id, l.round
	due := id == 0 || l.staged && l.streams == 0 || time.Since(l.beat) >= l.pace.beat
	if idle {
		// A Hold that comes now waits for its turn to make a new row, rather than rely on the one that goes.
		l.id, l.beating = 0, false
	}
	l.mu.Unlock()

	switch {
	case idle && id == 0:
		return false
	case idle:
		return l.retire(id)
	case due || l.asked(round):
		_ = l.publish(l.ctx)
	}
	return true
}

// retire deletes our row, and reports whether the heartbeat goes on because that failed.
func (l *Lease) retire(id int64) bool {
	err := l.delete(l.ctx, id)
	if err == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id, l.beating = id, true
	return true
}

// asked reports whether a collector has asked for pins since that round.
func (l *Lease) asked(since int64) bool {
	var round int64
	err := l.db.View(l.ctx, func(tx *schema.Tx) (err error) {
		round, err = currentRound(tx)
		return err
	})
	return err == nil && round != since
}

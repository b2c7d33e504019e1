package schema

import (
	"sync/atomic"
	"time"
)

// Metrics count what a [DB] has done since it was opened, by itself, not by other processes. They only grow, but for
// LogBytes.
type Metrics struct {
	Commits  int64         // transactions that were committed
	Undone   int64         // transactions that write and were rolled back
	Busy     int64         // waits for the write lock that ended without it
	LockWait time.Duration // from asking for the lock between processes, until it was there or given up
	LogBytes int64         // length of the log after the last commit
}

// counts are those of Metrics that connections count.
type counts struct {
	commits, undone, busy, lockWait atomic.Int64
}

// waited counts a wait for the write lock.
func (c *counts) waited(began time.Time, err error) {
	if c == nil {
		return
	}
	c.lockWait.Add(int64(time.Since(began)))
	if err != nil {
		c.busy.Add(1)
	}
}

// ended counts a transaction that writes.
func (c *counts) ended(committed bool) {
	switch {
	case c == nil:
	case committed:
		c.commits.Add(1)
	default:
		c.undone.Add(1)
	}
}

// Metrics returns the counts of now. It costs some loads of memory, and may be called at any time, also after Close.
func (db *DB) Metrics() Metrics {
	return Metrics{
		Commits:  db.counts.commits.Load(),
		Undone:   db.counts.undone.Load(),
		Busy:     db.counts.busy.Load(),
		LockWait: time.Duration(db.counts.lockWait.Load()),
		LogBytes: db.logLength.Load() * PageSize,
	}
}

package schema

import (
	"sync/atomic"
	"time"
)

// Metrics count the work of a [DB] since it was opened; that of other processes does not count. All but LogBytes only
// grow.
type Metrics struct {
	Commits  int64         // transactions that were committed
	Undone   int64         // transactions that were rolled back, without those that only read
	Busy     int64         // waits for the write lock that ended without it
	LockWait time.Duration // of all waits for the lock between processes
	LogBytes int64         // length of the log after the last commit
}

// counts are the part of Metrics that connections count.
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

package gc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"vfsdb/hold"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// A collector is one Run.
type collector struct {
	fsys   *vfs.FS
	db     *schema.DB
	report *Report
	name   string // the owner in the row of table gc

	keepChanges int64 // less than 0: all

	beat time.Time // when that row last got our heartbeat

	blobs, manifests idSet // in use
	floor, ceiling   int64 // the newest blob, and the newest manifest, that may go

	last  time.Duration // how long the last step held the write lock
	ended time.Time     // when it released it

	after func(step string) error // called after each step; nil but in tests
}

var (
	errTaken = errors.New("another collector has taken this one for dead")
	errKill  = errors.New("killed by a test")

	running sync.Map // the names of the collectors of this process
	serial  atomic.Int64
)

// take makes the collection ours, and returns the phase in which the one before was left.
func (c *collector) take(ctx context.Context) (phase int64, err error) {
	c.name = fmt.Sprintf("%s %d", hold.Owner(), serial.Add(1))
	running.Store(c.name, true)
	err = c.write(ctx, "take", func(tx *schema.Tx) error {
		s, err := hold.ReadCollection(tx)
		if err != nil {
			return err
		}
		if s.Owner != "" && !dead(s.Owner, s.Beat) {
			return fmt.Errorf("another collection is running: %w", syscall.EBUSY)
		}
		phase = s.Phase
		c.beat = time.Now()
		return hold.SetOwner(tx, c.name, c.beat)
	})
	if err != nil {
		running.Delete(c.name)
	}
	return phase, err
}

// dead reports whether a collector is gone. A collector of this process is known; one of another is as dead as that
// process is.
func dead(name string, beat int64) bool {
	process, _, _ := strings.Cut(name, " ")
	if process == hold.Owner() {
		_, alive := running.Load(name)
		return !alive
	}
	return hold.Dead(process, beat, time.Now().UnixNano())
}

// release ends the collection. A sweep that was cut short is left for the next Run to finish; any other phase starts
// over.
func (c *collector) release(ctx context.Context, cause error) error {
	defer running.Delete(c.name)
	if errors.Is(cause, errKill) {
		return cause
	}

	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	cut := ctx.Err() != nil
	err := c.db.Update(late, func(tx *schema.Tx) error {
		if err := c.own(tx, time.Now()); err != nil {
			return err
		}
		s, err := hold.ReadCollection(tx)
		if err != nil {
			return err
		}

		if s.Phase == hold.Sweeping && cut {
			return hold.SetOwner(tx, "", time.Now())
		}
		if err := reset(tx, hold.Idle); err != nil {
			return err
		}
		return hold.SetOwner(tx, "", time.Now())
	})

	if cause == nil {
		cause = err
	}
	return cause
}

// write is one step: a short transaction, after others have had time for theirs. It is not synced, so no other writer
// waits for the disk behind it. A loss of power undoes the last steps, and no commit of others; the file is then as it
// was in the midst of the collection. The end of a collection is synced, see release.
func (c *collector) write(ctx context.Context, step string, fn func(*schema.Tx) error) error {
	if err := c.pause(ctx); err != nil {
		return err
	}
	var began time.Time
	err := c.db.Stage(ctx, func(tx *schema.Tx) error {
		began = time.Now()
		return fn(tx)
	})
	if !began.IsZero() {
		c.held(time.Since(began))
	}
	if err != nil {
		return err
	}
	return c.tell(step)
}

// owned is write for a step that is only right while the collection is ours.
func (c *collector) owned(ctx context.Context, step string, fn func(*schema.Tx) error) error {
	now := time.Now()
	err := c.write(ctx, step, func(tx *schema.Tx) error {
		if err := c.own(tx, now); err != nil {
			return err
		}
		return fn(tx)
	})
	if err == nil {
		c.beat = now
	}
	return err
}

// own writes our heartbeat, unless another collector has taken over. A collector without a name owns nothing, and needs
// no heartbeat.
func (c *collector) own(tx *schema.Tx, now time.Time) error {
	if c.name == "" {
		return nil
	}
	ours, err := hold.Beat(tx, c.name, now)
	if err == nil && !ours {
		err = fmt.Errorf("%w: %w", errTaken, syscall.EBUSY)
	}
	return err
}

// heartbeat writes a heartbeat if the last one is old. Parts that take long without writing call it now and then.
func (c *collector) heartbeat(ctx context.Context) error {
	if time.Since(c.beat) < 5*time.Second {
		return nil
	}
	return c.owned(ctx, "beat", func(*schema.Tx) error { return nil })
}

// held notes that a step has ended, and how long it held the write lock.
func (c *collector) held(d time.Duration) {
	c.last, c.ended = d, time.Now()
	c.report.Steps++
	c.report.LongestStep = max(c.report.LongestStep, d)
}

// breath is how long the lock is left to others between two steps. Other processes try for it every 2 ms.
const breath = 2 * time.Millisecond

// pause lets others write.
func (c *collector) pause(ctx context.Context) error { return sleep(ctx, breath-time.Since(c.ended)) }

// tell calls the hook of a test.
func (c *collector) tell(step string) error {
	if c.after == nil {
		return nil
	}
	return c.after(step)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

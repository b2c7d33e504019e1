package retry

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"
)

// A call that found the store busy is tried again: three times in all, after a growing pause with jitter. Only busy
// is transient; any other error would come again.
const attempts = 3

// patience bounds the time after its beginning in which a call may be tried again: a call that waited for the lock
// has waited enough.
const patience = 10 * time.Second

// Busy runs a call, and runs it again while the store is busy, see attempts and patience.
func Busy[T any](ctx context.Context, run func() (T, error)) (T, error) {
	began, pause := time.Now(), 100*time.Millisecond
	for attempt := 1; ; attempt++ {
		out, err := run()
		if !errors.Is(err, syscall.EBUSY) || ctx.Err() != nil || attempt == attempts || time.Since(began) > patience {
			return out, err
		}
		wait := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			wait.Stop()
			return out, ctx.Err()
		case <-wait.C:
		}
		pause *= 4
	}
}

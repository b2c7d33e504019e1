package schema

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// MaxWait is how long a transaction waits for another writer when its context has no deadline.
const MaxWait = 30 * time.Second

// patience returns a channel that ends a wait which begins now after MaxWait; nil if ctx has a deadline, which ends it.
func patience(ctx context.Context) <-chan time.Time {
	if _, ok := ctx.Deadline(); ok {
		return nil
	}
	return time.After(MaxWait)
}

// waited returns the error of a wait for a lock that ended without it: EBUSY, and the error of ctx if that has ended.
func waited(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", syscall.EBUSY, err)
	}
	return syscall.EBUSY
}

// retry calls fn until it no longer finds the file locked: after 50 us, then longer, up to 2 ms, until ctx ends.
func retry(ctx context.Context, fn func() error) error {
	err := fn()
	if err != syscall.EBUSY {
		return err
	}
	tired := patience(ctx)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		select {
		case <-ctx.Done():
			return waited(ctx)
		case <-tired:
			return waited(ctx)
		case <-time.After(pause):
		}
		if err := fn(); err != syscall.EBUSY {
			return err
		}
	}
}

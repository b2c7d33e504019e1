package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"
)

// A call that found the store busy is tried again: three times in all, after a growing pause with jitter (W11). Only
// busy is transient; whatever else went wrong would go wrong again.
const attempts = 3

func retried[T any](ctx context.Context, run func() (T, error)) (T, error) {
	pause := 100 * time.Millisecond
	for attempt := 1; ; attempt++ {
		out, err := run()
		if !errors.Is(err, syscall.EBUSY) || attempt == attempts {
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

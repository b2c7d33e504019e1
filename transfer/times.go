package transfer

import (
	"fmt"
	"math"
	"syscall"
	"time"
)

// nanoseconds returns a time as the store keeps it, and refuses one that does not fit.
func nanoseconds(t time.Time) (int64, error) {
	if t.IsZero() {
		return 0, nil
	}
	ns, exact := nanos(t)
	if !exact {
		return 0, fmt.Errorf("modification time %d: %w", t.Unix(), syscall.EINVAL)
	}
	return ns, nil
}

// nanos returns a time as the store keeps it. One before 1678 or after 2261 is not exact: it becomes the first or the
// last that fits.
func nanos(t time.Time) (ns int64, exact bool) {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64, false
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64, false
	}
	return t.UnixNano(), true
}

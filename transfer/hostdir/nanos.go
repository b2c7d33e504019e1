package hostdir

import (
	"fmt"
	"math"
	"syscall"
	"time"
)

// Nanos returns a time as the store keeps it. One before 1678 or after 2261 is not exact: it becomes the first or the
// last that fits.
func Nanos(t time.Time) (ns int64, exact bool) {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64, false
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64, false
	}
	return t.UnixNano(), true
}

// ExactNanos is Nanos of a time that an archive gives: it refuses one that does not fit. No time at all is 0.
func ExactNanos(t time.Time) (int64, error) {
	if t.IsZero() {
		return 0, nil
	}
	ns, exact := Nanos(t)
	if !exact {
		return 0, fmt.Errorf("modification time %d: %w", t.Unix(), syscall.EINVAL)
	}
	return ns, nil
}

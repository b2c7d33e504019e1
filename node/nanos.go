package node

import (
	"math"
	"time"
)

// Nanos is a time as it is stored. One before 1678 or after 2261 becomes the first or the last that can be.
func Nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

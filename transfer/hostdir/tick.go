package hostdir

import "time"

// A tick is how long a file may be changed under the same time. File systems that keep nanoseconds take them from a
// clock that moves every few milliseconds. Those that keep whole seconds may keep only every other one.
const (
	FineTick   = 100 * time.Millisecond
	CoarseTick = 2 * time.Second
)

// TickOf returns the tick of a file system, as far as one of its times shows it.
func TickOf(mtime time.Time) time.Duration {
	if mtime.Nanosecond() == 0 {
		return CoarseTick
	}
	return FineTick
}

// Young reports whether a file that is read now may be changed later and still have the same time. A time further in
// the future was set by hand.
func Young(mtime, now time.Time) bool {
	age, tick := now.Sub(mtime), TickOf(mtime)
	return -tick <= age && age <= tick
}

package run_test

import "time"

// A test waits for long, and looks often.
const (
	long = time.Minute
	tick = 5 * time.Millisecond
)

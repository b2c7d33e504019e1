package gc_test

import "time"

const (
	waiting = 20 * time.Second
	tick    = 20 * time.Millisecond
)

func now() int64 { return time.Now().UnixNano() }

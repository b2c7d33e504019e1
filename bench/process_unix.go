//go:build unix

package main

import (
	"syscall"
	"time"
)

// settle lets the host write its dirty pages, so that they do not count for the next side.
func settle() { syscall.Sync() }

// processorTime returns the processor time of this process and of its children that have ended.
func processorTime() (t time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			t += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return t
}

//go:build unix

package main

import (
	"syscall"
	"time"
)

// settle lets the host write what it was given, so that one side's leftovers are not in the next one's time.
func settle() { syscall.Sync() }

// processorTime is what this process and its children that have ended used of the processors.
func processorTime() (t time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			t += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return t
}

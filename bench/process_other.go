//go:build !unix

package main

import "time"

// settle does nothing: this system has no such call.
func settle() {}

// processorTime returns wall time: this system reports no other.
func processorTime() time.Duration { return time.Since(began) }

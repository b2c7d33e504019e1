//go:build !unix

package main

import "time"

// settle does nothing where nobody can ask for it.
func settle() {}

// processorTime is the time on the wall where nobody tells more.
func processorTime() time.Duration { return time.Since(began) }

//go:build !linux

package hostfile

import "context"

// Turns have no effect here: a process that finds SQLite's write lock taken tries again until it is free.
type Turns struct{}

// OpenTurns returns nil.
func OpenTurns(string) *Turns { return nil }

// Take does not wait.
func (*Turns) Take(context.Context) error { return nil }

// Pass does nothing.
func (*Turns) Pass() {}

// Close does nothing.
func (*Turns) Close() {}

//go:build !linux

package schema

import "context"

// turns are not taken here: a process that finds SQLite's write lock taken tries again until it is free.
type turns struct{}

func openTurns(string) *turns { return nil }

func (*turns) take(context.Context) error { return nil }
func (*turns) pass()                      {}
func (*turns) close()                     {}

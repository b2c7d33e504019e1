//go:build !linux

package run

import (
	"context"
	"runtime"
)

// engines returns the ways to run a command, the best first.
func engines() []engine { return []engine{absent(Overlay), copyEngine{}, absent(Live)} }

// absent is an engine that only Linux has.
type absent Via

func (a absent) via() Via { return Via(a) }

func (a absent) open(context.Context, *task) (session, error) {
	return nil, &UnableError{Engine: Via(a), Why: "there is none on " + runtime.GOOS}
}

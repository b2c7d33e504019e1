//go:build !linux

package run

import (
	"context"
	"os"
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

// steps returns nothing: only Linux has steps.
func steps() map[string]func(input []byte, report *os.File) (int, error) { return nil }

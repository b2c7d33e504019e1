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

// scratch makes a directory for temporary files, and returns the function that removes it.
func scratch(prefix string) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", "vfsdb-run-"+prefix); err != nil {
		return "", nil, err
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// The uses of such directories.
const (
	tempPrefix  = "tmp-"
	probePrefix = "probe-"
)

// collectRunDirs does nothing: only Linux knows which runs live.
func collectRunDirs() {}

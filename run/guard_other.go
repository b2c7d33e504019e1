//go:build !linux

package run

import (
	"os/exec"
	"runtime"
)

// guard returns the command itself: here are no rules to put it under.
func (t *task) guard(via Via, cmd *exec.Cmd, _ string) (*exec.Cmd, func() error, error) {
	switch {
	case t.o.Confine:
		return nil, nil, &UnableError{Engine: via, Why: "--confine is not possible on " + runtime.GOOS}
	case t.o.NetworkNone:
		return nil, nil, &UnableError{Engine: via, Why: "--network none is not possible on " + runtime.GOOS}
	}
	return unguarded(cmd)
}

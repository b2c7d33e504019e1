package tool

import (
	"errors"
	"fmt"
	"syscall"
)

// An EvictedError is a workspace whose file was moved away or replaced, and that could not be opened again at its path.
// The next call tries once more. It is ESTALE.
type EvictedError struct {
	Path string
	Err  error // of opening it again
}

func (e *EvictedError) Error() string {
	return fmt.Sprintf("the workspace is gone: its file %s was moved or replaced, and cannot be opened again: %v", e.Path, e.Err)
}

// Is makes an EvictedError an ESTALE.
func (e *EvictedError) Is(target error) bool { return target == syscall.ESTALE }

// Unwrap returns the error of opening it again.
func (e *EvictedError) Unwrap() error { return e.Err }

// A FailedError is a workspace that could not be opened. If it is transient the next call tries again; else calls
// fail until the session is reset.
type FailedError struct {
	Transient bool
	Err       error
}

func (e *FailedError) Error() string { return fmt.Sprintf("the workspace cannot be opened: %v", e.Err) }

// Unwrap returns the reason.
func (e *FailedError) Unwrap() error { return e.Err }

// unreachable reports whether a call failed because there is no workspace to run it on.
func unreachable(err error) bool {
	var evicted *EvictedError
	var failed *FailedError
	return errors.As(err, &evicted) || errors.As(err, &failed)
}

package agent

import (
	"fmt"
	"syscall"
)

// A refusal is a call that a tool does not do, in words for the model that need nothing after them. It is its errno.
type refusal struct {
	errno syscall.Errno
	text  string
}

func (e *refusal) Error() string { return e.text }

func (e *refusal) Unwrap() error { return e.errno }

// refuse makes a refusal.
func refuse(errno syscall.Errno, format string, args ...any) error {
	return &refusal{errno, fmt.Sprintf(format, args...)}
}

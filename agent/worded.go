package agent

import (
	"errors"
	"fmt"
	"syscall"
)

// A wordedError is an error in the very words that models of a family know.
type wordedError struct {
	text  string
	errno syscall.Errno
}

func (e *wordedError) Error() string { return e.text }

func (e *wordedError) Unwrap() error { return e.errno }

func worded(errno syscall.Errno, format string, args ...any) error {
	return &wordedError{fmt.Sprintf(format, args...), errno}
}

// explainWorded gives models the words they know, where there are any.
func explainWorded(b *Toolbox, err error) string {
	var w *wordedError
	if errors.As(err, &w) {
		return w.text
	}
	return explain(b, err)
}

package agent

import (
	"errors"
	"fmt"
	"syscall"
)

// A refusal is a call that a tool does not do, in words for the model that need nothing after them: those that models
// of a family know, where there are any. It is its errno.
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

// explainInWords gives models the words of a refusal alone.
func explainInWords(b *Toolbox, err error) string {
	var r *refusal
	if errors.As(err, &r) {
		return r.text
	}
	return explain(b, err)
}

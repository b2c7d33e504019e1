package tool

import (
	"errors"
	"fmt"
	"syscall"
)

// A Refusal is a call that a tool does not do, in words for the model that need nothing after them: those that models
// of a family know, where there are any. It is its errno.
type Refusal struct {
	errno syscall.Errno
	text  string
}

func (e *Refusal) Error() string { return e.text }

func (e *Refusal) Unwrap() error { return e.errno }

// Refuse makes a refusal.
func Refuse(errno syscall.Errno, format string, args ...any) error {
	return &Refusal{errno, fmt.Sprintf(format, args...)}
}

// ExplainInWords gives models the words of a refusal alone.
func ExplainInWords(b *Toolbox, err error) string {
	var r *Refusal
	if errors.As(err, &r) {
		return r.text
	}
	return Explain(b, err)
}

package tool

import (
	"errors"
	"fmt"
	"syscall"
)

// A Refusal is the error of a call that a tool does not do. Its words are for the model and need nothing after them;
// where a family of models knows special words, it has those. It is its errno.
type Refusal struct {
	errno syscall.Errno
	text  string
}

func (e *Refusal) Error() string { return e.text }

// Unwrap returns the errno.
func (e *Refusal) Unwrap() error { return e.errno }

// Refuse returns a [Refusal].
func Refuse(errno syscall.Errno, format string, args ...any) error {
	return &Refusal{errno, fmt.Sprintf(format, args...)}
}

// ExplainInWords is the Explain of profiles whose refusals have all the words: models read those alone.
func ExplainInWords(b *Toolbox, err error) string {
	var r *Refusal
	if errors.As(err, &r) {
		return r.text
	}
	return Explain(b, err)
}

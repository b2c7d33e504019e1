package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"vfsdb/agent/tool/params"
)

// A CallError is an error with the operation that failed, and its path, or both of its paths.
type CallError struct {
	Op, Path, Dest string
	Err            error
}

func (e *CallError) Error() string { return e.What() + ": " + e.Err.Error() }

// What returns the operation with its path, or with both of its paths, without the reason.
func (e *CallError) What() string {
	if e.Dest != "" {
		return e.Op + " '" + e.Path + "' -> '" + e.Dest + "'"
	}
	return e.Op + " '" + e.Path + "'"
}

// Unwrap returns the reason.
func (e *CallError) Unwrap() error { return e.Err }

// A PathInput is an input that names the path that the call is about.
type PathInput interface{ About() string }

// Syscall lets errors of a tool name the system call that Node would have made, and the path.
func Syscall(call string) Tweak { return func(t *Tool) { t.syscall = call } }

// note adds the operation and the path to an error of a call, wherever the call failed: the transaction may not even
// have begun.
func (t *Tool) note(b *Toolbox, in any, err error) error {
	asked, ok := in.(PathInput)
	var at *CallError
	if err == nil || t.syscall == "" || !ok || errors.As(err, &at) {
		return err
	}
	return &CallError{t.syscall, b.shown(asked.About()), "", err}
}

// An ArgumentError is a call whose arguments a tool does not take. It is EINVAL.
type ArgumentError struct {
	Tool string
	Why  string
}

func (e *ArgumentError) Error() string { return fmt.Sprintf("arguments of %s: %s", e.Tool, e.Why) }

// Unwrap makes an ArgumentError an EINVAL.
func (e *ArgumentError) Unwrap() error { return syscall.EINVAL }

// decode makes the arguments of a call a struct.
func decode[In any](t *Tool, input json.RawMessage) (In, error) {
	in, err := params.Decode[In](t.params, input)
	var misfit *params.MisfitError
	if errors.As(err, &misfit) {
		err = &ArgumentError{t.Name, misfit.Why}
	}
	return in, err
}

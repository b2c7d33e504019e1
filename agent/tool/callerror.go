package tool

import (
	"errors"
)

// A CallError is an error with what was asked, of which path, or of which two.
type CallError struct {
	Op, Path, Dest string
	Err            error
}

func (e *CallError) Error() string { return e.What() + ": " + e.Err.Error() }

func (e *CallError) What() string {
	if e.Dest != "" {
		return e.Op + " '" + e.Path + "' -> '" + e.Dest + "'"
	}
	return e.Op + " '" + e.Path + "'"
}

func (e *CallError) Unwrap() error { return e.Err }

// Pathed is an input that names the path it is about.
type Pathed interface{ About() string }

// Syscall lets errors of a tool name the system call that Node would have made, and the path.
func Syscall(call string) Tweak { return func(t *Tool) { t.syscall = call } }

// note notes on an error of a call what was asked, wherever it failed: the transaction may not even have begun.
func (t *Tool) note(b *Toolbox, in any, err error) error {
	asked, ok := in.(Pathed)
	var at *CallError
	if err == nil || t.syscall == "" || !ok || errors.As(err, &at) {
		return err
	}
	return &CallError{t.syscall, b.Shown(asked.About()), "", err}
}

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// A usageError is a command line that makes no sense; hint is the command that tells more, and also what may be meant.
type usageError struct {
	err  error
	hint string
	also string
}

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// usage makes a usageError of the command cmd.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...), hint: cmd.CommandPath() + " --help"}
}

// asUsage is for errors from before a command began: about flags, arguments, and commands that do not exist.
func asUsage(err error, root *cobra.Command, args []string) error {
	var u *usageError
	if errors.As(err, &u) {
		return err
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil {
		cmd = root
	}
	return &usageError{err: err, hint: cmd.CommandPath() + " --help"}
}

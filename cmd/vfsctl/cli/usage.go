package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// A UsageError is a command line that makes no sense; hint is the command that tells more, and also what may be meant.
type UsageError struct {
	Err  error
	Hint string
	Also string
}

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// Usage makes a usageError of the command cmd.
func Usage(cmd *cobra.Command, format string, args ...any) error {
	return &UsageError{Err: fmt.Errorf(format, args...), Hint: cmd.CommandPath() + " --help"}
}

// asUsage is for errors from before a command began: about flags, arguments, and commands that do not exist.
func asUsage(err error, root *cobra.Command, args []string) error {
	var u *UsageError
	if errors.As(err, &u) {
		return err
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil {
		cmd = root
	}
	return &UsageError{Err: err, Hint: cmd.CommandPath() + " --help"}
}

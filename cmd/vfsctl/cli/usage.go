package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/human"
)

// A UsageError is the error of a command line that makes no sense.
type UsageError struct {
	Err  error
	Try  string // a command that explains the right usage
	Hint string // other advice, or ""
}

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// Usage makes the error of a command line that cmd cannot run.
func Usage(cmd *cobra.Command, format string, args ...any) error {
	return &UsageError{Err: fmt.Errorf(format, args...), Try: cmd.CommandPath() + " --help"}
}

// UnknownCommand makes the error of a word that is no command below cmd. Its advice is the command that does the work that
// the word does in other tools, or else one with a name that is near.
func UnknownCommand(cmd *cobra.Command, word, of string) *UsageError {
	return &UsageError{Err: fmt.Errorf("unknown command %q%s", word, of), Try: cmd.CommandPath() + " --help", Hint: NearCommand(cmd, word)}
}

// NearCommand returns the advice for a word that is no command below cmd: what the word means in other tools, or the
// commands that it may be a slip for, or "". A command that destroys is never suggested for a slip of the pen.
func NearCommand(cmd *cobra.Command, word string) string {
	if advice := habit(cmd, word); advice != "" {
		return advice
	}

	var near []string
	for _, c := range cmd.Commands() {
		destroys := c.Name() == "rm" || c.Name() == "delete"
		if c.IsAvailableCommand() && !destroys && human.Similar(word, c.Name()) {
			near = append(near, c.Name())
		}
	}
	if len(near) == 0 {
		return habit(cmd, "*")
	}
	return DidYouMean(near)
}

// DidYouMean returns the advice that offers some names; without any it returns "".
func DidYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(names, " or ") + "?"
}

// asUsage makes a [UsageError] of an error from before the body of a command: it is about flags, arguments, or a
// command that does not exist.
func asUsage(err error, root *cobra.Command, args []string) error {
	var u *UsageError
	if errors.As(err, &u) {
		return err
	}
	cmd, _, findErr := root.Find(args)
	if findErr != nil {
		cmd = root
	}
	return &UsageError{Err: err, Try: cmd.CommandPath() + " --help"}
}

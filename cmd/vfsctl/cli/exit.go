package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"vfsdb/vfs"
)

// An Exit is an exit code. As an error it ends a command that has reported everything already.
type Exit int

// The exit codes. The documentation of the command has their meaning.
const (
	ExitOK          Exit = 0
	ExitFailed      Exit = 1
	ExitUsage       Exit = 2
	ExitPartly      Exit = 3
	exitNoDatabase  Exit = 10
	ExitBusy        Exit = 11
	ExitDamage      Exit = 13
	ExitConflict    Exit = 14
	ExitInterrupted Exit = 130
)

// Error returns the code as text. It is never printed.
func (e Exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// exitCode finds the code for an error.
func exitCode(ctx context.Context, err error) Exit {
	var (
		code Exit
		u    *UsageError
		none *NoDatabaseError
	)

	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader of a pipe has closed it
		return ExitOK
	case errors.As(err, &u):
		return ExitUsage
	case errors.As(err, &code):
		return code
	case errors.As(err, &none):
		return exitNoDatabase
	case errors.Is(err, context.Canceled), errors.Is(ctx.Err(), context.Canceled):
		return ExitInterrupted
	case errors.Is(err, vfs.ErrCorrupt), errors.Is(err, syscall.EIO):
		return ExitDamage
	case errors.Is(err, syscall.ESTALE):
		return ExitConflict
	case errors.Is(err, syscall.EBUSY) && !busyRoot(err):
		return ExitBusy
	}
	return ExitFailed
}

// CodeOf returns the exit code of an error that the command itself reports.
func CodeOf(err error) Exit { return exitCode(context.Background(), err) }

// busyRoot reports whether EBUSY is about the root directory, which cannot be renamed, and not about a busy database.
func busyRoot(err error) bool {
	var l *os.LinkError
	return errors.As(err, &l) && (Rooted(l.Old) == "." || Rooted(l.New) == ".")
}

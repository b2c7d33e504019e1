package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"vfsdb/vfs"
)

// An exit is an exit code. As an error it ends a command that has reported everything already.
type exit int

// The exit codes, as in the documentation of the command.
const (
	exitOK          exit = 0
	exitFailed      exit = 1
	exitUsage       exit = 2
	exitPartly      exit = 3
	exitNoDatabase  exit = 10
	exitBusy        exit = 11
	exitDamage      exit = 13
	exitConflict    exit = 14
	exitInterrupted exit = 130
)

// Error names the code. It is never printed.
func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// exitCode finds the code for an error.
func exitCode(ctx context.Context, err error) exit {
	var (
		code exit
		u    *usageError
		none *noDatabase
	)
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader of a pipe has had enough
		return exitOK
	case errors.As(err, &u):
		return exitUsage
	case errors.As(err, &code):
		return code
	case errors.As(err, &none):
		return exitNoDatabase
	case errors.Is(err, context.Canceled), errors.Is(ctx.Err(), context.Canceled):
		return exitInterrupted
	case errors.Is(err, vfs.ErrCorrupt), errors.Is(err, syscall.EIO):
		return exitDamage
	case errors.Is(err, syscall.ESTALE):
		return exitConflict
	case errors.Is(err, syscall.EBUSY) && !busyRoot(err):
		return exitBusy
	}
	return exitFailed
}

// busyRoot tells an errno of the root directory from the one of a busy database.
func busyRoot(err error) bool {
	var l *os.LinkError
	return errors.As(err, &l) && (rooted(l.Old) == "." || rooted(l.New) == ".")
}

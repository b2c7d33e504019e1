package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/schema"
	"vfsdb/vfs"
)

// The exit codes, as in the package's documentation.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPartly      = 3
	exitNoDatabase  = 10
	exitBusy        = 11
	exitDamage      = 13
	exitConflict    = 14
	exitInterrupted = 130
)

// A status ends the program with a code. If err is nil, everything has been said already.
type status struct {
	code int
	err  error
}

func (s *status) Error() string {
	if s.err == nil {
		return fmt.Sprintf("exit %d", s.code)
	}
	return s.err.Error()
}

func (s *status) Unwrap() error { return s.err }

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

// A noDatabase is the error of every command that does not create a database where there is none.
type noDatabase struct {
	path, branch string
	create       bool // the command has the flag --create
}

func (e *noDatabase) Error() string {
	if e.branch == "" {
		return e.path + ": there is no database here"
	}
	return fmt.Sprintf("%s: there is no database here, and so no branch %s", e.path, e.branch)
}

// invoke writes a command line for the database that is missing, which for mcp --workspace is not that of --db.
func (e *noDatabase) invoke(a *app, args ...string) string {
	missing := *a
	missing.db = e.path
	return missing.invoke(args...)
}

// exitCode finds the code for an error.
func exitCode(ctx context.Context, err error) int {
	var (
		s    *status
		u    *usageError
		none *noDatabase
	)
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // the reader of a pipe has had enough
		return exitOK
	case errors.As(err, &u):
		return exitUsage
	case errors.As(err, &s):
		return s.code
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

// complain says on standard error what went wrong, and in one line what would help.
func (a *app) complain(err error, code int) {
	var (
		s      *status
		u      *usageError
		none   *noDatabase
		absent *noName
	)
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return
	case errors.As(err, &s) && s.err == nil:
		return
	case code == exitInterrupted:
		err = errors.New("interrupted")
	}
	if errno, ok := err.(syscall.Errno); ok { // of the database as a whole
		err = fmt.Errorf("%s: %w", a.db, errno)
	}
	m := message{Text: strings.TrimSuffix(err.Error(), "\n"), Code: code}
	switch {
	case errors.As(err, &u):
		m.Try, m.Hint = u.hint, u.also
	case errors.As(err, &none) && none.create:
		m.Try = none.invoke(a, "init")
		m.Hint = "or let mcp create it: --create"
	case errors.As(err, &none):
		m.Try = fmt.Sprintf("%s, or import a directory: %s", none.invoke(a, "init"), none.invoke(a, "import", "DIR"))
	case errors.As(err, &absent):
		m.Hint = absent.hint()
	case errors.Is(err, schema.ErrApart):
		m.Hint = "it was moved, replaced or linked; close whatever has it open, then try again"
	case code == exitBusy:
		m.Hint = "another process is writing; try again"
	default:
		m.Hint = hint(err)
	}
	a.tell(m)
}

// ofStore names the database in an error that says of nothing else what it is about, such as that of a commit.
func (a *app) ofStore(err error) error {
	var (
		p *fs.PathError
		l *os.LinkError
	)
	if _, ok := vfs.Errno(err); !ok || errors.As(err, &p) || errors.As(err, &l) {
		return err
	}
	return fmt.Errorf("%s: %w", a.db, err)
}

// A message is something to say on standard error. With --json it is an object there.
type message struct {
	Text string `json:"message"`
	Code int    `json:"code,omitempty"` // the exit code, of what ends the program
	Try  string `json:"try,omitempty"`  // a command that would help
	Hint string `json:"hint,omitempty"` // what else would
}

// tell says it, safe for a terminal: no line of a text looks like one that begins with our name.
func (a *app) tell(m message) {
	a.out.Flush()
	defer a.errs.Flush()
	if a.json {
		_ = a.errs.json(m)
		return
	}
	a.errs.printf("vfsctl: %s\n", strings.ReplaceAll(printable(m.Text), "\n", "\n  "))
	if m.Try != "" {
		a.errs.printf("try: %s\n", m.Try)
	}
	if m.Hint != "" {
		a.errs.printf("%s\n", m.Hint)
	}
}

// warn says something that does not end the program.
func (a *app) warn(format string, args ...any) {
	a.tell(message{Text: fmt.Sprintf(format, args...)})
}

// invoke writes a command line for the same database.
func (a *app) invoke(args ...string) string {
	words := []string{"vfsctl"}
	if a.db != defaultDB {
		words = append(words, "--db", a.db)
	}
	return commandLine(append(words, args...)...)
}

// each runs fn for each of several arguments. A failure is told and does not keep the others back: what remains is
// partly done, unless nothing was.
func (a *app) each(ctx context.Context, args []string, fn func(arg string) error) error {
	failed := 0
	for _, arg := range args {
		err := fn(arg)
		if err == nil {
			continue
		}
		if len(args) == 1 || ctx.Err() != nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, vfs.ErrCorrupt) {
			return err
		}
		a.warn("%v", err)
		failed++
	}
	switch failed {
	case 0:
		return nil
	case len(args):
		return &status{code: exitFailed}
	}
	return &status{code: exitPartly}
}

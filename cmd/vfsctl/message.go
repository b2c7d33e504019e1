package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// complain says on standard error what went wrong, and in one line what would help.
func (a *app) complain(err error, code exit) {
	var (
		bare   exit
		u      *usageError
		none   *noDatabase
		absent *noName
	)
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return
	case errors.As(err, &bare):
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
	Code exit   `json:"code,omitempty"` // the exit code, of what ends the program
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

// hint is advice for errors about a path.
func hint(err error) string {
	var p *fs.PathError
	if !errors.As(err, &p) || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return ""
	}
	switch {
	case errors.Is(err, syscall.ENOTEMPTY) && strings.HasPrefix(p.Op, "remove"):
		return "-r removes a directory with all that is below it"
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(p.Path, "*?[{"):
		return "nothing has that name; only vfsctl find and vfsctl ls take patterns"
	}
	return ""
}

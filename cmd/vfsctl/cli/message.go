package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"vfsdb/cmd/vfsctl/human"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// complain says on standard error what went wrong, and in one line what would help.
func (a *App) complain(err error, code Exit) {
	var (
		bare   Exit
		u      *UsageError
		none   *NoDatabaseError
		absent *noName
	)
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return
	case errors.As(err, &bare):
		return
	case code == ExitInterrupted:
		err = errors.New("interrupted")
	}
	if errno, ok := err.(syscall.Errno); ok { // of the database as a whole
		err = fmt.Errorf("%s: %w", a.DB, errno)
	}
	m := message{Text: strings.TrimSuffix(err.Error(), "\n"), Code: code}
	switch {
	case errors.As(err, &u):
		m.Try, m.Hint = u.Hint, u.Also
	case errors.As(err, &none) && none.Create:
		m.Try = none.invoke(a, "init")
		m.Hint = "or let mcp create it: --create"
	case errors.As(err, &none):
		m.Try = fmt.Sprintf("%s, or import a directory: %s", none.invoke(a, "init"), none.invoke(a, "import", "DIR"))
	case errors.As(err, &absent):
		m.Hint = absent.hint()
	case errors.Is(err, schema.ErrApart):
		m.Hint = "it was moved, replaced or linked; close whatever has it open, then try again"
	case code == ExitBusy:
		m.Hint = "another process is writing; try again"
	default:
		m.Hint = hint(err)
	}
	a.tell(m)
}

// OfStore names the database in an error that says of nothing else what it is about, such as that of a commit.
func (a *App) OfStore(err error) error {
	var (
		p *fs.PathError
		l *os.LinkError
	)
	if _, ok := vfs.Errno(err); !ok || errors.As(err, &p) || errors.As(err, &l) {
		return err
	}
	return fmt.Errorf("%s: %w", a.DB, err)
}

// A message is something to say on standard error. With --json it is an object there.
type message struct {
	Text string `json:"message"`
	Code Exit   `json:"code,omitempty"` // the exit code, of what ends the program
	Try  string `json:"try,omitempty"`  // a command that would help
	Hint string `json:"hint,omitempty"` // what else would
}

// tell says it, safe for a terminal: no line of a text looks like one that begins with our name.
func (a *App) tell(m message) {
	a.Out.Flush()
	defer a.Errs.Flush()
	if a.JSON {
		_ = a.Errs.JSON(m)
		return
	}
	a.Errs.Printf("vfsctl: %s\n", strings.ReplaceAll(human.Escape(m.Text), "\n", "\n  "))
	if m.Try != "" {
		a.Errs.Printf("try: %s\n", m.Try)
	}
	if m.Hint != "" {
		a.Errs.Printf("%s\n", m.Hint)
	}
}

// Warn says something that does not end the program.
func (a *App) Warn(format string, args ...any) {
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

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

// complain reports an error on standard error, with a line of advice where there is one.
func (a *App) complain(err error, code Exit) {
	var (
		bare   Exit
		u      *UsageError
		none   *NoDatabaseError
		absent *noName
		advice *advised
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
		m.Try, m.Hint = u.Try, u.Hint
	case errors.As(err, &advice):
		m.Hint = advice.advice
	case errors.As(err, &none) && none.Create:
		m.Try = none.invoke(a, "init")
		m.Hint = "or let mcp create it: --create"
	case errors.As(err, &none):
		m.Try = fmt.Sprintf("%s, or import a directory: %s", none.invoke(a, "init"), none.invoke(a, "import", "DIR"))
	case errors.As(err, &absent):
		m.Hint = absent.hint()
		switch {
		case absent.by == bySwitch:
			m.Try = a.Invoke("switch", vfs.MainBranch)
		case a.shell != nil && IsNoBranch(err) && absent.name == a.shell.Branch:
			m.Try = "cd " + vfs.MainBranch + ":"
		}
	case errors.Is(err, schema.ErrApart):
		m.Hint = "it was moved, replaced or linked; close whatever has it open, then try again"
	case errors.Is(err, schema.ErrForeign) && a.above != "":
		m.Hint = "it is the nearest file called " + defaultDB + " above this directory; --db names another, and vfsctl --db " + defaultDB + " init makes one here"
	case code == ExitBusy:
		m.Hint = "another process is writing; try again"
	default:
		m.Hint = a.hint(err)
	}

	a.report(m)
}

// OfStore adds the name of the database to an error that names no file, such as that of a commit.
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

// A message goes to standard error: as lines, or with --json as an object.
type message struct {
	Text string `json:"message"`
	Code Exit   `json:"code,omitempty"` // the exit code, if the message ends the program
	Try  string `json:"try,omitempty"`  // a command that would help
	Hint string `json:"hint,omitempty"` // other advice
}

// report prints a message. It is safe for a terminal, and only its first line begins with the name of the program.
func (a *App) report(m message) {
	a.Out.Flush()
	defer a.Errs.Flush()
	if a.JSON {
		_ = a.Errs.JSON(m)
		return
	}
	a.Errs.Printf("vfsctl: %s\n", strings.ReplaceAll(human.Escape(m.Text), "\n", "\n  "))
	if m.Try != "" {
		a.Errs.Printf("try: %s\n", human.Escape(m.Try))
	}
	if m.Hint != "" {
		a.Errs.Printf("%s\n", human.Escape(m.Hint))
	}
}

// Warn reports something that does not end the program.
func (a *App) Warn(format string, args ...any) {
	a.report(message{Text: fmt.Sprintf(format, args...)})
}

// hint returns advice about an error of a path, or "".
func (a *App) hint(err error) string {
	var p *fs.PathError
	if !errors.As(err, &p) {
		return ""
	}
	pattern := strings.ContainsAny(strings.ReplaceAll(p.Path, "@{", "@"), "*?[{") // a moment is none
	switch {
	case errors.Is(err, syscall.EEXIST) && p.Op == "branch":
		return fmt.Sprintf("--branch %s works on the branch that has this name", p.Path)
	case errors.Is(err, syscall.ENOTEMPTY) && strings.HasPrefix(p.Op, "remove"):
		return "-r removes a directory with all that is below it"
	case errors.Is(err, fs.ErrNotExist) && pattern && a.shell != nil:
		return "nothing matches it"
	case errors.Is(err, fs.ErrNotExist) && pattern:
		return "nothing has that name; only vfsctl find and vfsctl ls take patterns"
	}
	return ""
}

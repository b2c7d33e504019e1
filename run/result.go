package run

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"
)

// A Result is what a run did.
type Result struct {
	Command  string        `json:"command"`             // with its arguments, as a shell would read it
	Engine   Via           `json:"engine"`              // the way that was taken
	Declined []UnableError `json:"declined,omitempty"`  // the better ways that the host does not allow
	Branch   string        `json:"branch,omitempty"`    // the branch that has the result; "" if nothing was to be brought
	Moved    bool          `json:"moved,omitempty"`     // that is a new branch, see [MovedError]
	Merged   bool          `json:"merged,omitempty"`    // the branch changed meanwhile, and the result was merged into it
	ExitCode int           `json:"exit_code"`           // 128 and the number of the signal that ended the command; 124 after the timeout
	Signal   string        `json:"signal,omitempty"`    // that ended the command
	TimedOut bool          `json:"timed_out,omitempty"` // the timeout ended it
	Took     time.Duration `json:"took"`                // of the command alone, in ns
	Changed  int           `json:"changed"`             // paths that the run changed
	Bytes    int64         `json:"bytes"`               // of the files that it added or modified
	Kept     string        `json:"kept,omitempty"`      // the directory of the host that was kept

	// Conflicts are the paths at which the result and the other changes conflict, see [ConflictError].
	Conflicts []string `json:"conflicts,omitempty"`
}

// An UnableError is the error of a way that the host does not allow.
type UnableError struct {
	Engine Via    `json:"engine"`
	Why    string `json:"why"`
	Remedy string `json:"remedy,omitempty"` // what would help, or ""
	Err    error  `json:"-"`                // the errno, or nil
}

func (e *UnableError) Error() string {
	text := "run by " + string(e.Engine) + ": " + e.Why
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Unwrap returns the errno; ENOTSUP if there is none.
func (e *UnableError) Unwrap() error {
	if e.Err == nil {
		return syscall.ENOTSUP
	}
	return e.Err
}

// An ExitError is the error of a command that ended with another exit code than 0.
type ExitError struct {
	Code     int
	Signal   string // the signal that ended it, or ""
	TimedOut bool
}

func (e *ExitError) Error() string {
	switch {
	case e.TimedOut:
		return "the command was ended after its time"
	case e.Signal != "":
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// A StartError is the error of a command that could not be started. The errno is that of the host: ENOENT if there is no
// such program.
type StartError struct {
	Name string
	Err  error
}

func (e *StartError) Error() string { return e.Name + ": " + e.reason() }

func (e *StartError) reason() string {
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return "command not found"
	case errors.Is(e.Err, syscall.EISDIR):
		return "is a directory"
	}
	return e.Err.Error()
}

func (e *StartError) Unwrap() error { return e.Err }

// ExitCode is what a shell returns for such a command: 127 if there is none, 126 if it cannot be executed.
func (e *StartError) ExitCode() int {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// A ConflictError reports that a branch changed while the command ran, and that what the command made of some files conflicts
// with that. The result is merged: such files stay as the branch has them, and the conflicts have what the command made of
// them. It is ESTALE.
type ConflictError struct {
	Branch string
	Paths  []string
}

func (e *ConflictError) Error() string {
	const most = 5
	list := strings.Join(e.Paths[:min(most, len(e.Paths))], ", ")
	if more := len(e.Paths) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("branch %s changed while the command ran: the result is merged, and conflicts at %s", e.Branch, list)
}

// Unwrap returns ESTALE.
func (e *ConflictError) Unwrap() error { return syscall.ESTALE }

// A MovedError reports that a branch was deleted while the command ran; or that it changed, and the result could not be merged:
// because of Err, or since the run was over a directory of the host. The result is the branch Branch, which goes on from the
// moment that the command saw. It is ESTALE.
//
// By live there is no result of its own, and Branch is "": what the command wrote before the branch was deleted went with it,
// and what it wrote later was refused.
type MovedError struct {
	From    string // the branch that changed
	Branch  string
	Deleted bool
	Err     error // of the merge, or nil
}

func (e *MovedError) Error() string {
	switch {
	case e.Deleted && e.Branch == "":
		return fmt.Sprintf("branch %s was deleted while the command ran: what it wrote before went with the branch, and what it wrote later was refused", e.From)
	case e.Deleted:
		return fmt.Sprintf("branch %s was deleted while the command ran: the result is the branch %s", e.From, e.Branch)
	}
	text := fmt.Sprintf("branch %s changed while the command ran: the result is the branch %s", e.From, e.Branch)
	if e.Err != nil {
		text += fmt.Sprintf(", since it could not be merged: %v", e.Err)
	}
	return text
}

// Unwrap returns ESTALE.
func (e *MovedError) Unwrap() error { return syscall.ESTALE }

// A KeptError reports that the result of a run could not be stored. It is in the directory Dir of the host.
type KeptError struct {
	Dir string
	Err error
}

func (e *KeptError) Error() string {
	return fmt.Sprintf("the result could not be stored, and is kept in %s: %v", e.Dir, e.Err)
}

func (e *KeptError) Unwrap() error { return e.Err }

// timeoutCode is the exit code of a command that its timeout ended.
const timeoutCode = 124

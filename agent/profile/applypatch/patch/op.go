package patch

import (
	"fmt"
	"syscall"
)

// A Kind is the kind of a change of a file.
type Kind int

// The kinds.
const (
	Add    Kind = iota + 1 // it gets the content given, whether it was there or not
	Delete                 // it is removed
	Update                 // its text is changed, or it is moved, or both
)

// A FileOp is the change of one file in a patch.
type FileOp struct {
	Kind    Kind
	Path    string // as the patch has it
	MoveTo  string // of an Update: its new path; "" if it stays
	Content string // of an Add
	Hunks   []Hunk // of an Update
	At      int    // the line of the patch that it begins on; the first is 1
}

// A Hunk is one change of a text.
type Hunk struct {
	Context   []string // lines to find first, each after the one before
	Lines     []Line
	EndOfFile bool // the old lines are the last ones of the file
	At        int  // the line of the patch that it begins on
}

// A Line is one line of a hunk.
type Line struct {
	Op   byte // ' ' stays, '-' goes, '+' comes
	Text string
}

// old returns the lines that a hunk looks for.
func old(lines []Line) []string {
	var list []string
	for _, l := range lines {
		if l.Op != '+' {
			list = append(list, l.Text)
		}
	}
	return list
}

// A ParseError is the error of a text that is no patch. It is EINVAL.
type ParseError struct {
	Line int // of the patch; 0 if it is wrong as a whole
	Why  string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return "invalid patch: " + e.Why
	}
	return fmt.Sprintf("invalid patch hunk on line %d: %s", e.Line, e.Why)
}

// Unwrap makes a ParseError an EINVAL.
func (e *ParseError) Unwrap() error { return syscall.EINVAL }

// A MatchError is the error of a hunk that has no place in the text. It is EINVAL.
type MatchError struct {
	Path     string
	Hunk, Of int      // its number in the file, from 1, and how many the file has
	At       int      // the line of the patch that the hunk begins on
	Context  string   // the line of a @@ that was not found; else
	Lines    []string // the old lines that were not found
	Earlier  int      // the line of the text where they are, before the hunk before; 0 if they are nowhere
}

func (e *MatchError) Error() string {
	what := "lines"
	if e.Lines == nil {
		what = fmt.Sprintf("context %q", e.Context)
	}
	return fmt.Sprintf("%s: hunk %d of %d: %s not found", e.Path, e.Hunk, e.Of, what)
}

// Unwrap makes a MatchError an EINVAL.
func (e *MatchError) Unwrap() error { return syscall.EINVAL }

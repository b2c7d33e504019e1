package transfer

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"vfsdb/transfer/zipped"
)

// The reasons of refusals that are our own.
var (
	errUnknownType = zipped.ErrType
	errFirstName   = errors.New("the first name of this file was refused")
	errNotDir      = fmt.Errorf("something else is where it needs a directory: %w", syscall.ENOTDIR)
	errIsDir       = fmt.Errorf("a directory has its name: %w", syscall.EISDIR)
	errNoTarget    = fmt.Errorf("a hard link to a name that is not in the archive: %w", syscall.ENOENT)
)

// A Refusal is an entry that was left out.
type Refusal struct {
	Path string
	Why  string

	err error
}

// A RefusedError means that an import changed nothing, because some entries could not go in. errors.Is finds the
// reasons.
type RefusedError struct{ Refused []Refusal }

// maxNamed is how many refusals the text of a RefusedError names.
const maxNamed = 10

func (e *RefusedError) Error() string {
	if len(e.Refused) == 1 {
		return fmt.Sprintf("%q is refused: %s", e.Refused[0].Path, e.Refused[0].Why)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d entries are refused:", len(e.Refused))
	for i, r := range e.Refused {
		if i == maxNamed {
			fmt.Fprintf(&b, "\nand %d more", len(e.Refused)-i)
			break
		}
		fmt.Fprintf(&b, "\n%q: %s", r.Path, r.Why)
	}
	return b.String()
}

// Unwrap returns the reasons.
func (e *RefusedError) Unwrap() []error {
	var all []error
	for _, r := range e.Refused {
		if r.err != nil {
			all = append(all, r.err)
		}
	}
	return all
}

package schema

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrCorrupt is damage in the file: a page, a row or a chunk that no sound store has. Every error that is ErrCorrupt is
// EIO too.
var ErrCorrupt = errors.New("the store is damaged")

// Corrupt returns an error that says which damage was found. It is [ErrCorrupt], and holds EIO for errors.As.
func Corrupt(format string, args ...any) error { return &damage{fmt.Errorf(format, args...)} }

// A damage is what Corrupt returns.
type damage struct{ why error }

func (d *damage) Error() string { return ErrCorrupt.Error() + ": " + d.why.Error() }

func (d *damage) Is(target error) bool { return target == ErrCorrupt }

func (d *damage) Unwrap() []error { return []error{syscall.EIO, d.why} }

// An Ascent makes sure that a loop over rows in the order of a key ends. Each loop asks for the rows behind the last
// one; where a damaged tree of pages answers with a row that it has returned before, the loop would go round for good.
type Ascent struct {
	last  int64
	begun bool
}

// To fails with [ErrCorrupt], and names the table, unless key is above the one before.
func (a *Ascent) To(table string, key int64) error {
	if a.begun && key <= a.last {
		return Corrupt("rows of table %s are out of order: %d comes after %d", table, key, a.last)
	}
	a.last, a.begun = key, true
	return nil
}

package schema

import (
	"fmt"
	"syscall"
)

// ErrCorrupt is damage in the file: a page, a row or a chunk that no sound store has. It is EIO too, and so is every error
// that wraps it.
var ErrCorrupt error = corrupt{}

type corrupt struct{}

func (corrupt) Error() string { return "the store is damaged" }
func (corrupt) Unwrap() error { return syscall.EIO }

// Corrupt returns an error that wraps [ErrCorrupt] and names the damage.
func Corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrCorrupt, fmt.Errorf(format, args...))
}

// An Ascent makes sure that a loop over rows in the order of a key ends. Such a loop asks for the rows behind the last one.
// If a damaged tree of pages returned an earlier row again, the loop would never end.
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

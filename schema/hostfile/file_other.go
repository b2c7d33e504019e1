//go:build !unix

package hostfile

import (
	"errors"
	"os"
)

// An ID is the path: where files that are open cannot be renamed or removed, a path leads to one file.
type ID struct{ path string }

// Identify returns the file that a path leads to, and 1 for its names, which are not counted here.
func Identify(path string) (id ID, names uint64, err error) {
	if _, err := os.Stat(path); err != nil {
		return ID{}, 0, errors.Unwrap(err) // the errno alone
	}
	return ID{path}, 1, nil
}

// IsOpen reports true: an open file keeps its path here.
func (id ID) IsOpen(int) bool { return true }

// MaxPath is the longest path that the host opens.
const MaxPath = 32767

// Writable does not fail: the permissions of a directory are not known here.
func Writable(string) error { return nil }

// Held reports false: locks are not looked at here.
func Held(int) bool { return false }

// Holder finds none, as Held does.
func Holder(int) (pid int, held bool) { return 0, false }

// IndexHeld reports false, as Held does.
func IndexHeld(string) bool { return false }

// UsesLog reports false, as Held does.
func UsesLog(int) bool { return false }

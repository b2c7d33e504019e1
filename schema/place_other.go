//go:build !unix

package schema

import "os"

// A fileID is the path: where files that are open cannot be renamed or removed, a path leads to one file.
type fileID struct{ path string }

func identify(path string) (id fileID, names uint64, err error) {
	if _, err := os.Stat(path); err != nil {
		return fileID{}, 0, bare(err)
	}
	return fileID{path}, 1, nil
}

func (id fileID) isOpen(int) bool { return true }

// maxPath is the longest path that the host opens.
const maxPath = 32767

// writable does not fail: the permissions of a directory are not known here.
func writable(string) error { return nil }

func held(int) bool { return false }

func indexHeld(string) bool { return false }

func usesLog(int) bool { return false }

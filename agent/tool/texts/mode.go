package texts

import (
	"fmt"
	"io/fs"
)

// Kind returns the word for a type of file.
func Kind(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symlink"
	}
	return "other"
}

// Mode returns the permission bits of a mode as results show them.
func Mode(mode fs.FileMode) string { return fmt.Sprintf("0o%03o", mode.Perm()) }

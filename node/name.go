package node

import (
	"cmp"
	"fmt"
	"strings"

	"vfsdb/schema"
)

// Limits of names and paths.
const (
	MaxName = 255
	MaxPath = 4096
)

// A Name is one entry that shows an inode.
type Name struct {
	Dir  Ino
	Base string
}

// Compare orders names by directory, then by base.
func (a Name) Compare(b Name) int {
	return cmp.Or(cmp.Compare(a.Dir, b.Dir), strings.Compare(a.Base, b.Base))
}

// An Entry is one entry of a directory: a name, and the inode that it shows.
type Entry struct {
	Name string
	Ino  Ino
	Kind uint8
}

// A Child is an entry of a directory and what it shows.
type Child struct {
	Name
	Ino   Ino
	IsDir bool
}

// A Dirent is the entry of a directory under a name: the inode, or, with Ino 0, that there is none. Level and Born
// name the row that it comes from; Level is Fresh if there is no row.
type Dirent struct {
	Ino   Ino
	Kind  uint8
	Level int
	Born  int64
}

// JoinPath returns the path of an entry, or of a file further down, from that of a directory.
func JoinPath(dir, path string) string {
	if dir == "." {
		return path
	}
	return dir + "/" + path
}

// Within reports whether a path is dir, or below it. Both are paths from the root, which is ".".
func Within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return dir == "." || ok && (rest == "" || rest[0] == '/')
}

// EntryFault returns the fault of a row of the table dirent, by itself; "" if it has none.
func EntryFault(name string, shows bool, ino, kind int64) string {
	switch {
	case name == "" || len(name) > MaxName || name == "." || name == "..", strings.IndexByte(name, 0) >= 0, strings.IndexByte(name, '/') >= 0:
		return fmt.Sprintf("%q cannot be a name", name)
	case !shows:
		return ""
	case ino < schema.RootIno:
		return fmt.Sprintf("entry shows the inode %d", ino)
	case !isKind(kind):
		return fmt.Sprintf("entry has the type %d", kind)
	}
	return ""
}

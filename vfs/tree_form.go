package vfs

import (
	"fmt"
	"strings"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// An inodeForm is a row of the table inode, as far as its columns must fit together. Rows are from a file that may be
// damaged.
type inodeForm struct {
	ino, mode, nlink     int64
	content              chunk.Content
	hasBlob, hasManifest bool
	hasTarget            bool
	target               int64 // its length
}

var kindNames = [16]string{
	kindFifo: "fifo", kindChar: "character device", kindDir: "directory", kindBlock: "block device",
	kindFile: "file", kindLink: "symlink", kindSocket: "socket",
}

// isKind reports whether a number is a type of file.
func isKind(kind int64) bool {
	return kind >= 0 && kind < int64(len(kindNames)) && kindNames[kind] != ""
}

// kindName returns a type of file in words.
func kindName(kind int64) string {
	if isKind(kind) {
		return kindNames[kind]
	}
	return fmt.Sprintf("type %d", kind)
}

// fault returns the fault of the row itself; "" if it has none.
func (r *inodeForm) fault() string {
	kind := r.mode >> 12
	switch {
	case r.mode == 0 && (r.content.Size != 0 || r.hasBlob || r.hasManifest || r.hasTarget):
		return "whiteout has content"
	case r.mode == 0:
		return ""
	case r.ino < schema.RootIno:
		return fmt.Sprintf("inode has the number %d", r.ino)
	case !isKind(kind):
		return fmt.Sprintf("inode %d has the mode %#o", r.ino, r.mode)
	case r.nlink < 0:
		return fmt.Sprintf("inode %d has nlink %d", r.ino, r.nlink)
	case kind == kindDir && r.nlink > 1:
		return fmt.Sprintf("directory %d has nlink %d", r.ino, r.nlink)
	case kind == kindLink && (!r.hasTarget || r.target < 1 || r.target > maxPath):
		return fmt.Sprintf("symlink %d has a target of %d bytes", r.ino, r.target)
	case kind != kindLink && r.hasTarget:
		return fmt.Sprintf("%s %d has a target", kindName(kind), r.ino)
	case kind != kindFile && (r.content.Size != 0 || r.hasBlob || r.hasManifest):
		return fmt.Sprintf("%s %d has content of %d bytes", kindName(kind), r.ino, r.content.Size)
	}
	return ""
}

// entryFault returns the fault of a row of the table dirent, by itself; "" if it has none.
func entryFault(name string, shows bool, ino, kind int64) string {
	switch {
	case name == "" || len(name) > maxName || name == "." || name == "..", strings.IndexByte(name, 0) >= 0, strings.IndexByte(name, '/') >= 0:
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

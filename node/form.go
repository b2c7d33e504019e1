package node

import (
	"fmt"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// A Form is a row of the table inode, as far as its columns must fit together. Rows are from a file that may be
// damaged.
type Form struct {
	Ino, Mode, Nlink     int64
	Content              chunk.Content
	HasBlob, HasManifest bool
	HasTarget            bool
	Target               int64 // its length
	HasXattrs            bool
	Xattrs               Xattrs
	HasConflict          bool
	Conflict             Conflict
}

// Fault returns the fault of the row itself; "" if it has none.
func (r *Form) Fault() string {
	// A whiteout has the mode 0.
	switch {
	case r.Mode == 0 && (r.Content.Size != 0 || r.HasBlob || r.HasManifest || r.HasTarget || r.HasXattrs || r.HasConflict):
		return "whiteout has content"
	case r.Mode == 0:
		return ""
	}

	// Every inode has a number, a type and a count of links.
	kind := r.Mode >> 12
	switch {
	case r.Ino < schema.RootIno:
		return fmt.Sprintf("inode has the number %d", r.Ino)
	case !isKind(kind):
		return fmt.Sprintf("inode %d has the mode %#o", r.Ino, r.Mode)
	case r.Nlink < 0:
		return fmt.Sprintf("inode %d has nlink %d", r.Ino, r.Nlink)
	}

	// Other columns are for some types only.
	switch {
	case kind == KindDir && r.Nlink > 1:
		return fmt.Sprintf("directory %d has nlink %d", r.Ino, r.Nlink)
	case kind == KindLink && (!r.HasTarget || r.Target < 1 || r.Target > MaxPath):
		return fmt.Sprintf("symlink %d has a target of %d bytes", r.Ino, r.Target)
	case kind != KindLink && r.HasTarget:
		return fmt.Sprintf("%s %d has a target", KindName(kind), r.Ino)
	case kind != KindFile && (r.Content.Size != 0 || r.HasBlob || r.HasManifest):
		return fmt.Sprintf("%s %d has content of %d bytes", KindName(kind), r.Ino, r.Content.Size)
	case r.HasXattrs && kind != KindFile && kind != KindDir:
		return fmt.Sprintf("%s %d has attributes", KindName(kind), r.Ino)
	}
	what := ""
	if r.HasXattrs {
		what = r.Xattrs.Fault()
	}
	if what == "" && r.HasConflict {
		what = r.Conflict.Fault()
	}
	if what != "" {
		what = fmt.Sprintf("inode %d: %s", r.Ino, what)
	}
	return what
}

package node

import (
	"syscall"

	"vfsdb/chunk"
)

// Ino is an inode number. It is unique in the store, is never used again, and stays with a file through renames,
// snapshots and branches.
type Ino int64

// A Node is an inode as the tree shows it.
type Node struct {
	Ino          Ino
	Level        int    // where its row was found. 0: this branch; deeper: inherited; Fresh: no row yet
	Born         int64  // when the life of that row began
	Mode         uint32 // type and 12 bits, as st_mode
	Uid, Gid     uint32
	Nlink, Rdev  int64
	Mtime, Ctime int64
	Btime        int64
	Content      chunk.Content
	Target       string // of a symlink
	Xattrs       Xattrs
	Conflict     Conflict
}

// Fresh is the level of an entry or inode without a row in any level.
const Fresh = -1

// Kind returns the type of file, one of the Kind constants.
func (n *Node) Kind() uint8 { return uint8(n.Mode >> 12) }

// IsDir reports whether the node is a directory.
func (n *Node) IsDir() bool { return n.Kind() == KindDir }

// CheckRegular refuses a directory with EISDIR, and anything else that is not a regular file with EINVAL.
func (n *Node) CheckRegular() error {
	switch n.Kind() {
	case KindFile:
		return nil
	case KindDir:
		return syscall.EISDIR
	}
	return syscall.EINVAL
}

// MaxSize is the largest file: what a manifest's 32-bit chunk index reaches.
const MaxSize = int64(1<<32) * chunk.Size

// Copy returns a node without a number yet, with all that a copy of n takes along. Its times but Mtime, and its names, are its
// own, and no conflict comes along.
func (n *Node) Copy() *Node {
	return &Node{Mode: n.Mode, Uid: n.Uid, Gid: n.Gid, Rdev: n.Rdev, Mtime: n.Mtime, Content: n.Content, Target: n.Target, Xattrs: n.Xattrs}
}

// CheckXattrs refuses attributes with EPERM on an inode that is neither a regular file nor a directory.
func (n *Node) CheckXattrs() error {
	if n.Kind() != KindFile && n.Kind() != KindDir {
		return syscall.EPERM
	}
	return nil
}

// Same reports whether two views of an inode are equal, wherever their rows stand.
func Same(a, b *Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.Level, x.Born, y.Level, y.Born = 0, 0, 0, 0
	return x == y
}

// Alike reports whether two states of an inode are the same to a reader of its path. The times of a directory follow from
// its entries, and so does the number of names.
func Alike(a, b *Node) bool {
	same := a.Mode == b.Mode && a.Uid == b.Uid && a.Gid == b.Gid && a.Rdev == b.Rdev
	same = same && a.Content == b.Content && a.Target == b.Target && a.Xattrs == b.Xattrs && a.Conflict == b.Conflict
	return same && (a.IsDir() || a.Mtime == b.Mtime)
}

// CheckTarget refuses a symlink that points at what no path can be.
func CheckTarget(n *Node) error {
	if n.Kind() != KindLink {
		return nil
	}
	switch {
	case n.Target == "":
		return syscall.ENOENT
	case len(n.Target) > MaxPath:
		return syscall.ENAMETOOLONG
	}
	for i := range len(n.Target) {
		if n.Target[i] == 0 {
			return syscall.EINVAL
		}
	}
	return nil
}

package node

import (
	"io/fs"
	"time"
)

// An Info describes a file as it was at one moment. It is an [fs.FileInfo] with more to it.
type Info struct {
	name string
	n    Node
}

// NewInfo describes a node under a name.
func NewInfo(name string, n *Node) *Info { return &Info{name: name, n: *n} }

// InfoOf describes a node without a name; nil if there is none.
func InfoOf(n *Node) *Info {
	if n == nil {
		return nil
	}
	return NewInfo("", n)
}

// Name returns the last segment of the path, and "" for the root.
func (i *Info) Name() string { return i.name }

// Size returns the length of a regular file in bytes, and of a symlink's target; 0 for anything else.
func (i *Info) Size() int64 {
	if i.n.Kind() == KindLink {
		return int64(len(i.n.Target))
	}
	return i.n.Content.Size
}

// Mode returns the type and the 12 permission bits.
func (i *Info) Mode() fs.FileMode { return FileMode(i.n.Mode) }

// ModTime returns when the content last changed, to the nanosecond.
func (i *Info) ModTime() time.Time { return time.Unix(0, i.n.Mtime) }

// ChangeTime returns when the content or anything else about the file last changed.
func (i *Info) ChangeTime() time.Time { return time.Unix(0, i.n.Ctime) }

// BirthTime returns when the file was created.
func (i *Info) BirthTime() time.Time { return time.Unix(0, i.n.Btime) }

// IsDir reports whether it is a directory.
func (i *Info) IsDir() bool { return i.n.IsDir() }

// Ino returns the inode number.
func (i *Info) Ino() Ino { return i.n.Ino }

// Nlink returns how many names the file has: 1 for a directory, 0 for an open file whose last name is gone.
func (i *Info) Nlink() int { return int(i.n.Nlink) }

// Owner returns the stored user and group. They are kept, never enforced.
func (i *Info) Owner() (uid, gid int) { return int(i.n.Uid), int(i.n.Gid) }

// Rdev returns the device number of a device node.
func (i *Info) Rdev() uint64 { return uint64(i.n.Rdev) }

// Target returns where a symlink points; "" for anything else.
func (i *Info) Target() string { return i.n.Target }

// Xattrs returns the names of the extended attributes, in order.
func (i *Info) Xattrs() []string { return i.n.Xattrs.Names() }

// Sys returns the *Info itself, so that code which has an [fs.FileInfo] can reach the rest.
func (i *Info) Sys() any { return i }

// SameContent reports whether two regular files hold equal bytes, without reading any.
func (i *Info) SameContent(other *Info) bool { return i.n.Content == other.n.Content }

// String returns the Info as [fs.FormatFileInfo] has it.
func (i *Info) String() string { return fs.FormatFileInfo(i) }

// NodeOf returns the node that an Info describes. It is not the caller's to change.
func NodeOf(i *Info) *Node { return &i.n }

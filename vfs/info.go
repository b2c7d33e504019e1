package vfs

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"time"
)

// An Info describes a file as it was at one moment. It is an [fs.FileInfo] that tells more.
type Info struct {
	name string
	n    inode
}

func newInfo(name string, n *inode) *Info { return &Info{name: name, n: *n} }

// Name returns the last segment of the path, and "" for the root.
func (i *Info) Name() string { return i.name }

// Size returns the length of a regular file in bytes, and of a symlink's target; 0 for anything else.
func (i *Info) Size() int64 {
	if i.n.kind() == kindLink {
		return int64(len(i.n.target))
	}
	return i.n.content.Size
}

// Mode returns the type and the 12 permission bits.
func (i *Info) Mode() fs.FileMode { return fileMode(i.n.mode) }

// ModTime returns when the content last changed, to the nanosecond.
func (i *Info) ModTime() time.Time { return time.Unix(0, i.n.mtime) }

// ChangeTime returns when the content or anything else about the file last changed.
func (i *Info) ChangeTime() time.Time { return time.Unix(0, i.n.ctime) }

// BirthTime returns when the file was created.
func (i *Info) BirthTime() time.Time { return time.Unix(0, i.n.btime) }

// IsDir reports whether it is a directory.
func (i *Info) IsDir() bool { return i.n.isDir() }

// Ino returns the inode number.
func (i *Info) Ino() Ino { return i.n.ino }

// Nlink returns how many names the file has: 1 for a directory, 0 for an open file whose last name is gone.
func (i *Info) Nlink() int { return int(i.n.nlink) }

// Owner returns the stored user and group. They are kept, never enforced.
func (i *Info) Owner() (uid, gid int) { return int(i.n.uid), int(i.n.gid) }

// Rdev returns the device number of a device node.
func (i *Info) Rdev() uint64 { return uint64(i.n.rdev) }

// Target returns where a symlink points; "" for anything else.
func (i *Info) Target() string { return i.n.target }

// Sys returns the *Info itself, so that code which has an [fs.FileInfo] can reach the rest.
func (i *Info) Sys() any { return i }

// SameContent reports whether two regular files hold equal bytes, without reading any.
func (i *Info) SameContent(other *Info) bool { return i.n.content == other.n.content }

func (i *Info) String() string { return fs.FormatFileInfo(i) }

// Stat describes the file that a path leads to, following symlinks.
func (tx *Tx) Stat(name string) (*Info, error) {
	info, err := tx.stat(name, true)
	return info, pathErr("stat", name, err)
}

// Lstat is Stat, but describes a symlink itself.
func (tx *Tx) Lstat(name string) (*Info, error) {
	info, err := tx.stat(name, false)
	return info, pathErr("lstat", name, err)
}

func (tx *Tx) stat(name string, follow bool) (*Info, error) {
	p, n, err := tx.find(name, follow)
	if err != nil {
		return nil, err
	}
	return newInfo(p.name(tx, name), n), nil
}

// name is the last segment that the caller wrote: for a symlink that was followed it is the link's own.
func (p place) name(tx *Tx, asked string) string {
	if base := path.Base(asked); base != "." && base != ".." && base != "/" {
		return base
	}
	if p.ino == tx.fsys.root {
		return ""
	}
	return p.base
}

// splitLast cuts a path before its last segment, without resolving anything.
func splitLast(name string) (dir, base string) {
	name = strings.TrimRight(name, "/")
	i := strings.LastIndexByte(name, '/')
	return name[:i+1], name[i+1:]
}

// Stat describes the file that a path leads to, following symlinks.
func (fsys *FS) Stat(ctx context.Context, name string) (info *Info, err error) {
	err = fsys.view(ctx, "stat", name, func(tx *Tx) (err error) {
		info, err = tx.Stat(name)
		return err
	})
	return info, err
}

// Lstat is Stat, but describes a symlink itself.
func (fsys *FS) Lstat(ctx context.Context, name string) (info *Info, err error) {
	err = fsys.view(ctx, "lstat", name, func(tx *Tx) (err error) {
		info, err = tx.Lstat(name)
		return err
	})
	return info, err
}

package billyfs

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/helper/chroot"

	"vfsdb/vfs"
)

// A Filesystem is a tree of a store as go-billy's interfaces want it. It is safe for concurrent use. Its errors are
// those of [vfs.FS], so errors.Is and os.IsNotExist work on them.
type Filesystem struct {
	ctx  context.Context
	fsys *vfs.FS
}

var (
	_ billy.Filesystem = (*Filesystem)(nil)
	_ billy.Change     = (*Filesystem)(nil)
	_ billy.Capable    = (*Filesystem)(nil)
)

// New returns a tree as a Filesystem. The interfaces of go-billy have no context, so all calls run under ctx, also those
// of the files. A past moment or a read-only store is shown too, and refuses writes with EROFS.
func New(ctx context.Context, fsys *vfs.FS) *Filesystem {
	return &Filesystem{ctx, fsys}
}

// Capabilities returns that a tree can do all that go-billy knows. A tree that refuses writes lacks what they need.
func (t *Filesystem) Capabilities() billy.Capability {
	if t.fsys.Frozen() || t.fsys.Store().ReadOnly() {
		return billy.ReadCapability | billy.SeekCapability
	}
	return billy.AllCapabilities
}

// Create creates or empties a file, open for reading and writing.
func (t *Filesystem) Create(name string) (billy.File, error) {
	return t.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens a file for reading.
func (t *Filesystem) Open(name string) (billy.File, error) { return t.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file with the flags of os.OpenFile. With O_CREATE, missing directories above it are made.
func (t *Filesystem) OpenFile(name string, flag int, perm os.FileMode) (billy.File, error) {
	f, err := t.fsys.OpenFile(t.ctx, name, flag, perm)
	if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 && name != "" {
		if err := t.fsys.MkdirAll(t.ctx, path.Dir(name), 0o755); err != nil {
			return nil, err
		}
		f, err = t.fsys.OpenFile(t.ctx, name, flag, perm)
	}
	if err != nil {
		return nil, err
	}
	return &file{File: f, tree: t, name: strings.TrimPrefix(path.Clean("/"+name), "/")}, nil
}

// TempFile creates a file in dir whose name begins with prefix, and that no other process chooses.
func (t *Filesystem) TempFile(dir, prefix string) (billy.File, error) {
	return t.OpenFile(path.Join(dir, prefix+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// Stat describes the file that a path leads to, by the last name of the path.
func (t *Filesystem) Stat(name string) (os.FileInfo, error) {
	info, err := t.fsys.Stat(t.ctx, name)
	return fileInfo(info, err)
}

// Lstat is Stat, but describes a symlink itself.
func (t *Filesystem) Lstat(name string) (os.FileInfo, error) {
	info, err := t.fsys.Lstat(t.ctx, name)
	return fileInfo(info, err)
}

// fileInfo keeps a nil *vfs.Info from becoming an interface that is not nil.
func fileInfo(info *vfs.Info, err error) (os.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return info, nil
}

// ReadDir describes the entries of a directory at one moment, sorted by name.
func (t *Filesystem) ReadDir(name string) (list []os.FileInfo, err error) {
	err = t.fsys.View(t.ctx, func(tx *vfs.Tx) error {
		entries, err := tx.ReadDir(name)
		if err != nil {
			return err
		}
		list = make([]os.FileInfo, len(entries))
		for i, e := range entries {
			if list[i], err = e.Info(); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// MkdirAll creates a directory and those above it.
func (t *Filesystem) MkdirAll(name string, perm os.FileMode) error {
	return t.fsys.MkdirAll(t.ctx, name, perm)
}

// Rename moves a file or a directory. Missing directories above the new name are made, in the same commit.
func (t *Filesystem) Rename(from, to string) error {
	return t.fsys.Rename(t.ctx, from, to, vfs.Parents())
}

// Symlink creates a symlink. Missing directories above it are made, in the same commit.
func (t *Filesystem) Symlink(target, name string) error {
	return t.fsys.Symlink(t.ctx, target, name, vfs.Parents())
}

// Readlink returns where a symlink points.
func (t *Filesystem) Readlink(name string) (string, error) { return t.fsys.Readlink(t.ctx, name) }

// Remove removes a file, a symlink or an empty directory.
func (t *Filesystem) Remove(name string) error { return t.fsys.Remove(t.ctx, name) }

// Chmod sets the permissions of a file, following symlinks.
func (t *Filesystem) Chmod(name string, mode os.FileMode) error {
	return t.fsys.Chmod(t.ctx, name, mode)
}

// Chown stores an owner, which is not enforced; -1 leaves a number as it is.
func (t *Filesystem) Chown(name string, uid, gid int) error {
	return t.fsys.Chown(t.ctx, name, uid, gid)
}

// Lchown is Chown, but of a symlink itself.
func (t *Filesystem) Lchown(name string, uid, gid int) error {
	return t.fsys.Lchown(t.ctx, name, uid, gid)
}

// Chtimes sets the modification time of a file. The access time is not kept.
func (t *Filesystem) Chtimes(name string, atime, mtime time.Time) error {
	return t.fsys.Chtimes(t.ctx, name, atime, mtime)
}

// Join joins elements of a path with slashes, on every system.
func (t *Filesystem) Join(elem ...string) string { return path.Join(elem...) }

// Root returns "/".
func (t *Filesystem) Root() string { return "/" }

// Chroot returns the tree below a directory, which need not exist yet. It is go-billy's own helper: a path or a symlink
// that leads out is billy.ErrCrossedBoundary, but a symlink that is made meanwhile may win the race. For a boundary that
// holds, open the directory with [vfs.FS.OpenRoot] and give that to [New].
func (t *Filesystem) Chroot(name string) (billy.Filesystem, error) {
	return chroot.New(t, path.Clean("/"+name)), nil
}

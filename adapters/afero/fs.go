package aferofs

import (
	"context"
	"os"
	"time"

	"github.com/spf13/afero"

	"vfsdb/vfs"
)

// An Fs is a tree of a store as afero's interfaces want it. It is safe for concurrent use. Its errors are those of
// [vfs.FS], so errors.Is and os.IsNotExist work on them.
type Fs struct {
	ctx  context.Context
	fsys *vfs.FS
}

var (
	_ afero.Fs        = (*Fs)(nil)
	_ afero.Symlinker = (*Fs)(nil)
)

// New returns a tree as an Fs. The interfaces of afero have no context, so all calls run under ctx, also those of the
// files. A past moment or a read-only store is shown too, and refuses writes with EROFS.
func New(ctx context.Context, fsys *vfs.FS) *Fs { return &Fs{ctx, fsys} }

// Name returns "vfsdb".
func (t *Fs) Name() string { return "vfsdb" }

// Create creates or empties a file, open for reading and writing.
func (t *Fs) Create(name string) (afero.File, error) {
	return t.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens a file or a directory for reading.
func (t *Fs) Open(name string) (afero.File, error) { return t.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file with the flags of os.OpenFile.
func (t *Fs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	f, err := t.fsys.OpenFile(t.ctx, name, flag, perm)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

// Mkdir creates a directory in one that exists.
func (t *Fs) Mkdir(name string, perm os.FileMode) error { return t.fsys.Mkdir(t.ctx, name, perm) }

// MkdirAll creates a directory and those above it.
func (t *Fs) MkdirAll(name string, perm os.FileMode) error { return t.fsys.MkdirAll(t.ctx, name, perm) }

// Remove removes a file, a symlink or an empty directory.
func (t *Fs) Remove(name string) error { return t.fsys.Remove(t.ctx, name) }

// RemoveAll removes a path with all that is below it, in one commit. The root of the tree is EPERM.
func (t *Fs) RemoveAll(name string) error { return t.fsys.RemoveAll(t.ctx, name) }

// Rename moves a file or a directory.
func (t *Fs) Rename(from, to string) error { return t.fsys.Rename(t.ctx, from, to) }

// Stat describes the file that a path leads to.
func (t *Fs) Stat(name string) (os.FileInfo, error) {
	info, err := t.fsys.Stat(t.ctx, name)
	return fileInfo(info, err)
}

// LstatIfPossible is Stat, but describes a symlink itself; it always can.
func (t *Fs) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	info, err := t.fsys.Lstat(t.ctx, name)
	described, err := fileInfo(info, err)
	return described, true, err
}

// fileInfo keeps a nil *vfs.Info from becoming an interface that is not nil.
func fileInfo(info *vfs.Info, err error) (os.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return info, nil
}

// Chmod sets the permissions of a file, following symlinks.
func (t *Fs) Chmod(name string, mode os.FileMode) error { return t.fsys.Chmod(t.ctx, name, mode) }

// Chown stores an owner, which is not enforced; -1 leaves a number as it is.
func (t *Fs) Chown(name string, uid, gid int) error { return t.fsys.Chown(t.ctx, name, uid, gid) }

// Chtimes sets the modification time of a file. The access time is not kept.
func (t *Fs) Chtimes(name string, atime, mtime time.Time) error {
	return t.fsys.Chtimes(t.ctx, name, atime, mtime)
}

// SymlinkIfPossible creates a symlink to a target, which need not exist.
func (t *Fs) SymlinkIfPossible(target, name string) error {
	return t.fsys.Symlink(t.ctx, target, name)
}

// ReadlinkIfPossible returns where a symlink points.
func (t *Fs) ReadlinkIfPossible(name string) (string, error) { return t.fsys.Readlink(t.ctx, name) }

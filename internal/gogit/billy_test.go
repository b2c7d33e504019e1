package gogit

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync/atomic"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/helper/chroot"

	"vfsdb/vfs"
)

// A tree is a tree of a store as go-git wants to see it. As its own file system of the host does, it makes the
// directories above what is created.
type tree struct {
	ctx  context.Context
	fsys *vfs.FS
}

var temporary atomic.Int64

func (t tree) parents(name string) error {
	return t.fsys.MkdirAll(t.ctx, path.Dir(name), 0o755)
}

func (t tree) Create(name string) (billy.File, error) {
	return t.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (t tree) Open(name string) (billy.File, error) { return t.OpenFile(name, os.O_RDONLY, 0) }

func (t tree) OpenFile(name string, flag int, perm os.FileMode) (billy.File, error) {
	if flag&os.O_CREATE != 0 {
		if err := t.parents(name); err != nil {
			return nil, err
		}
	}
	f, err := t.fsys.OpenFile(t.ctx, name, flag, perm)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (t tree) TempFile(dir, prefix string) (billy.File, error) {
	name := path.Join(dir, fmt.Sprint(prefix, temporary.Add(1)))
	return t.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

func (t tree) Stat(name string) (os.FileInfo, error) {
	info, err := t.fsys.Stat(t.ctx, name)
	return fileInfo(info, err)
}

func (t tree) Lstat(name string) (os.FileInfo, error) {
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

func (t tree) ReadDir(name string) ([]os.FileInfo, error) {
	entries, err := t.fsys.ReadDir(t.ctx, name)
	if err != nil {
		return nil, err
	}
	list := make([]os.FileInfo, len(entries))
	for i, e := range entries {
		if list[i], err = e.Info(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (t tree) Rename(from, to string) error {
	if err := t.parents(to); err != nil {
		return err
	}
	return t.fsys.Rename(t.ctx, from, to)
}

func (t tree) Symlink(target, name string) error {
	if err := t.parents(name); err != nil {
		return err
	}
	return t.fsys.Symlink(t.ctx, target, name)
}

func (t tree) Remove(name string) error { return t.fsys.Remove(t.ctx, name) }
func (t tree) MkdirAll(name string, perm os.FileMode) error {
	return t.fsys.MkdirAll(t.ctx, name, perm)
}
func (t tree) Readlink(name string) (string, error)         { return t.fsys.Readlink(t.ctx, name) }
func (t tree) Chmod(name string, mode fs.FileMode) error    { return t.fsys.Chmod(t.ctx, name, mode) }
func (t tree) Join(elem ...string) string                   { return path.Join(elem...) }
func (t tree) Chroot(name string) (billy.Filesystem, error) { return chroot.New(t, name), nil }
func (t tree) Root() string                                 { return "/" }

// A file has the locks that go-git asks for. One process works on these repositories, so they have nothing to do.
type file struct{ *vfs.File }

func (file) Lock() error   { return nil }
func (file) Unlock() error { return nil }

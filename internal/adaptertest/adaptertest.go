package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

// A File is what the open files of adapters have in common.
type File interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.Closer
	Truncate(size int64) error
}

// An Adapter is what adapters have in common.
type Adapter struct {
	OpenFile func(name string, flag int, perm fs.FileMode) (File, error)
	Stat     func(name string) (fs.FileInfo, error)
	Rename   func(from, to string) error
	Remove   func(name string) error
	MkdirAll func(name string, perm fs.FileMode) error
	Symlink  func(target, name string) error
}

// Calls are the verbs that adapters have by the same names. F is what they call an open file.
type Calls[F File] interface {
	OpenFile(name string, flag int, perm fs.FileMode) (F, error)
	Stat(name string) (fs.FileInfo, error)
	Rename(from, to string) error
	Remove(name string) error
	MkdirAll(name string, perm fs.FileMode) error
}

// Of returns the Adapter of an adapter's calls. The call for symlinks has another name in each.
func Of[F File](c Calls[F], symlink func(target, name string) error) Adapter {
	return Adapter{
		OpenFile: func(name string, flag int, perm fs.FileMode) (File, error) { return c.OpenFile(name, flag, perm) },
		Stat:     c.Stat, Rename: c.Rename, Remove: c.Remove, MkdirAll: c.MkdirAll, Symlink: symlink,
	}
}

// Run runs all tests on adapters that wrap makes of trees. All calls of an adapter run under the context.
func Run(t *testing.T, wrap func(ctx context.Context, fsys *vfs.FS) Adapter) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, fsys *vfs.FS, a Adapter)
	}{
		{"paths", testPaths},
		{"symlinks", testSymlinks},
		{"closed", testClosed},
		{"removed", testRemoved},
		{"huge", testHuge},
		{"many", testMany},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t, "a", "dir/b", "full/c")
			tt.run(t, fsys, wrap(t.Context(), fsys))
		})
	}
	t.Run("refusing", func(t *testing.T) { testRefusing(t, wrap) })
	t.Run("ended", func(t *testing.T) { testEnded(t, wrap) })
}

// read returns the content of a file.
func (a Adapter) read(name string) (string, error) {
	f, err := a.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(f)
	return string(data), errors.Join(err, f.Close())
}

// write makes text the content of a file.
func (a Adapter) write(name, text string) error {
	f, err := a.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}

func testPaths(t *testing.T, _ *vfs.FS, a Adapter) {
	for _, name := range []string{"a", "/a", "./a", "//a", "dir/../a", "/../a", "../../a"} {
		text, err := a.read(name)
		require.NoError(t, err, name)
		require.Equal(t, "a", text, name)
	}

	for name, want := range map[string]error{
		"nul\x00": syscall.EINVAL, "a/x": syscall.ENOTDIR, strings.Repeat("n", 256): syscall.ENAMETOOLONG,
		strings.Repeat("dir/../", 1000) + "a": syscall.ENAMETOOLONG,
	} {
		require.ErrorIs(t, a.write(name, "x"), want, "%.20q", name)
	}
	_, err := a.OpenFile("", os.O_RDWR|os.O_CREATE, 0o644)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = a.Stat("missing/x")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = a.OpenFile("a", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorIs(t, a.write("dir", "x"), syscall.EISDIR)
	require.ErrorIs(t, a.Remove("full"), syscall.ENOTEMPTY)
	require.ErrorIs(t, a.Rename("missing", "b"), fs.ErrNotExist)
	require.ErrorIs(t, a.Rename("dir", "dir/in"), syscall.EINVAL)
	require.ErrorIs(t, a.MkdirAll("a/x", 0o755), syscall.ENOTDIR)
	require.Error(t, a.Remove("/"))
}

func testSymlinks(t *testing.T, _ *vfs.FS, a Adapter) {
	for name, target := range map[string]string{
		"self": "self", "there": "back", "back": "there", "out": "../../../a", "host": "/etc/passwd", "to": "/dir/b", "dangling": "new",
	} {
		require.NoError(t, a.Symlink(target, name))
	}

	for _, name := range []string{"self", "there", "self/x"} {
		_, err := a.read(name)
		require.ErrorIs(t, err, syscall.ELOOP, name)
	}
	_, err := a.read("host")
	require.ErrorIs(t, err, fs.ErrNotExist, "the root of the tree is not that of the host")
	for name, want := range map[string]string{"out": "a", "to": "dir/b"} {
		text, err := a.read(name)
		require.NoError(t, err, name)
		require.Equal(t, want, text, name)
	}

	require.NoError(t, a.write("dangling", "made"))
	text, err := a.read("new")
	require.NoError(t, err)
	require.Equal(t, "made", text)
	require.ErrorIs(t, a.Symlink("a", "to"), fs.ErrExist)
}

func testClosed(t *testing.T, _ *vfs.FS, a Adapter) {
	f, err := a.OpenFile("a", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Close(), fs.ErrClosed)

	_, err = f.Read(make([]byte, 1))
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = f.Write([]byte("x"))
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = f.Seek(0, io.SeekStart)
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorIs(t, f.Truncate(0), fs.ErrClosed)
}

// A file that has lost its name is read and written until it is closed.
func testRemoved(t *testing.T, _ *vfs.FS, a Adapter) {
	f, err := a.OpenFile("a", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, a.Remove("a"))
	_, err = f.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	_, err = io.WriteString(f, " and more")
	require.NoError(t, err)
	p := make([]byte, 10)
	_, err = f.ReadAt(p, 0)
	require.NoError(t, err)
	require.Equal(t, "a and more", string(p))
	require.NoError(t, f.Close())
	_, err = a.Stat("a")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func testHuge(t *testing.T, _ *vfs.FS, a Adapter) {
	const size = 1 << 40
	f, err := a.OpenFile("huge", os.O_RDWR|os.O_CREATE, 0o644)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(size))
	_, err = f.Seek(-3, io.SeekEnd)
	require.NoError(t, err)
	_, err = io.WriteString(f, "end")
	require.NoError(t, err)
	require.NoError(t, f.Close())

	f, err = a.OpenFile("huge", os.O_RDONLY, 0)
	require.NoError(t, err)
	p := make([]byte, 6)
	_, err = f.ReadAt(p, size-6)
	require.NoError(t, err)
	require.Equal(t, "\x00\x00\x00end", string(p))
	_, err = f.Write(p)
	require.Error(t, err)
	require.NoError(t, f.Close())
}

// Eight users append to one file, and make and move files of their own in one directory.
func testMany(t *testing.T, fsys *vfs.FS, a Adapter) {
	const users, each = 8, 25
	var all sync.WaitGroup
	for user := range users {
		all.Go(func() {
			f, err := a.OpenFile("log", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range each {
				name := fmt.Sprintf("shared/%d-%d", user, i)
				_, err := fmt.Fprintf(f, "%d %d\n", user, i)
				err = errors.Join(err, a.MkdirAll("shared", 0o755), a.write(name, name), a.Rename(name, name+".done"))
				if err != nil {
					t.Error(err)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	text, err := a.read("log")
	require.NoError(t, err)
	require.Equal(t, users*each, strings.Count(text, "\n"))
	entries, err := fsys.ReadDir(t.Context(), "shared")
	require.NoError(t, err)
	require.Len(t, entries, users*each)
}

// testRefusing tries all writes on a snapshot and on a store that is read-only.
func testRefusing(t *testing.T, wrap func(context.Context, *vfs.FS) Adapter) {
	fsys := vfstest.New(t, "a", "dir/b")
	s, err := snapshot.Create(t.Context(), fsys, "before", nil)
	require.NoError(t, err)
	past, err := fsys.At(t.Context(), s.Moment())
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(t.Context(), "a", []byte("later"), 0o644))

	refuses := func(a Adapter, want string) {
		text, err := a.read("a")
		require.NoError(t, err)
		require.Equal(t, want, text)
		_, err = a.OpenFile("a", os.O_RDWR, 0)
		require.ErrorIs(t, err, syscall.EROFS)
		require.ErrorIs(t, a.write("new", "x"), syscall.EROFS)
		require.ErrorIs(t, a.write("deep/new", "x"), syscall.EROFS)
		require.ErrorIs(t, a.Remove("a"), syscall.EROFS)
		require.ErrorIs(t, a.Rename("a", "c"), syscall.EROFS)
		require.ErrorIs(t, a.MkdirAll("new", 0o755), syscall.EROFS)
		require.ErrorIs(t, a.Symlink("a", "new"), syscall.EROFS)
	}
	refuses(wrap(t.Context(), past), "a")
	fsys.Store().SetReadOnly(true)
	refuses(wrap(t.Context(), fsys), "later")
	fsys.Store().SetReadOnly(false)
}

// The calls of an adapter end with its context.
func testEnded(t *testing.T, wrap func(context.Context, *vfs.FS) Adapter) {
	ctx, cancel := context.WithCancel(t.Context())
	a := wrap(ctx, vfstest.New(t, "a"))
	f, err := a.OpenFile("a", os.O_RDWR, 0)
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, a.write("b", "x"), context.Canceled)
	_, err = a.Stat("a")
	require.ErrorIs(t, err, context.Canceled)
	_ = f.Close()
}

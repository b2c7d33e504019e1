package vfs_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// 40 hops pass over the whole resolution, the 41st is ELOOP.
func TestSymlinkCap(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "file")
	require.NoError(t, fsys.Symlink(ctx, "file", "l1"))
	for i := 2; i <= 41; i++ {
		require.NoError(t, fsys.Symlink(ctx, fmt.Sprintf("l%d", i-1), fmt.Sprintf("l%d", i)))
	}
	_, err := fsys.Stat(ctx, "l40")
	require.NoError(t, err)
	_, err = fsys.Stat(ctx, "l41")
	require.ErrorIs(t, err, syscall.ELOOP)
	_, err = fsys.Lstat(ctx, "l41")
	require.NoError(t, err, "the link itself is not followed")

	// Hops add up along a path, and not only in a chain.
	require.NoError(t, fsys.Mkdir(ctx, "d", 0o755))
	require.NoError(t, fsys.Symlink(ctx, ".", "d/here"))
	_, err = fsys.Stat(ctx, "d"+strings.Repeat("/here", 40))
	require.NoError(t, err)
	_, err = fsys.Stat(ctx, "d"+strings.Repeat("/here", 41))
	require.ErrorIs(t, err, syscall.ELOOP)
	require.NoError(t, fsys.Symlink(ctx, "loop", "loop"))
	_, err = fsys.ReadFile(ctx, "loop/x")
	require.ErrorIs(t, err, syscall.ELOOP)
}

// How paths are read.
func TestPaths(t *testing.T) {
	fsys := vfstest.New(t, "a/b/file", "other/file2")
	require.NoError(t, fsys.Symlink(t.Context(), "a/b", "tob"))
	require.NoError(t, fsys.Symlink(t.Context(), "/other", "a/abs"))
	require.NoError(t, fsys.Symlink(t.Context(), "../../../..", "a/up"))
	for _, tt := range []struct {
		path string
		name string // the Info's
		want error
	}{
		{"a/b/file", "file", nil},
		{"/a/b/file", "file", nil},
		{"//a///./b/./file", "file", nil},
		{"a/b/file/", "file", nil},
		{".", "", nil},
		{"/", "", nil},
		{"..", "", nil},
		{"../../a/b", "b", nil},
		{"a/../a/b", "b", nil},
		{"a/b/..", "a", nil},
		{"tob/../b/file", "file", nil}, // `..` is taken where the link leads: a
		{"a/abs/file2", "file2", nil},
		{"a/up/other", "other", nil},
		{"", "", syscall.ENOENT},
		{"none", "", syscall.ENOENT},
		{"none/..", "", syscall.ENOENT},
		{"a/b/file/x", "", syscall.ENOTDIR},
		{"a/b/file/..", "", syscall.ENOTDIR},
		{"a\x00b", "", syscall.EINVAL},
		{strings.Repeat("x", 255), "", syscall.ENOENT},
		{strings.Repeat("x", 256), "", syscall.ENAMETOOLONG},
		{strings.Repeat("a/", 2047) + "..", "", syscall.ENOENT},
		{strings.Repeat("./", 2048), "", nil},
		{strings.Repeat("./", 2048) + "a", "", syscall.ENAMETOOLONG},
	} {
		t.Run(fmt.Sprintf("%.40q", tt.path), func(t *testing.T) {
			info, err := fsys.Stat(t.Context(), tt.path)
			require.ErrorIs(t, err, tt.want)
			if tt.want == nil {
				require.Equal(t, tt.name, info.Name())
				return
			}
			var pe *fs.PathError
			require.ErrorAs(t, err, &pe)
			require.Equal(t, "stat", pe.Op)
			require.Equal(t, tt.path, pe.Path)
		})
	}
}

// Names are bytes, kept as given.
func TestNamesAreBytes(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	names := []string{"\x01", " ", "*?[", "-", "A", "a", "a\nb", "e\u0301", "\u00e9", "\xff\xfe", strings.Repeat("\u00e9", 127)}
	for _, name := range names {
		require.NoError(t, fsys.WriteFile(ctx, name, []byte(name), 0o644))
	}
	entries, err := fsys.ReadDir(ctx, "/")
	require.NoError(t, err)
	require.Len(t, entries, len(names))
	last := ""
	for _, e := range entries {
		require.Less(t, last, e.Name(), "sorted as bytes")
		last = e.Name()
		require.Equal(t, e.Name(), vfstest.Read(t, fsys, e.Name()))
	}
	_, err = fs.Stat(fsys.IOFS(ctx), "\xff\xfe")
	require.ErrorIs(t, err, fs.ErrInvalid, "io/fs names are UTF-8")
}

// OpenRoot is a view that neither `..` nor symlinks leave.
func TestOpenRoot(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "secret", "jail/in", "jail/sub/deep")
	require.NoError(t, fsys.Symlink(ctx, "../secret", "jail/rel"))
	require.NoError(t, fsys.Symlink(ctx, "/secret", "jail/abs"))
	require.NoError(t, fsys.Symlink(ctx, "/in", "jail/ok"))
	jail, err := fsys.OpenRoot(ctx, "jail")
	require.NoError(t, err)
	require.Equal(t, "jail/in", vfstest.Read(t, jail, "/ok"))
	for _, name := range []string{"rel", "abs", "../secret", "sub/../../secret"} {
		_, err := jail.ReadFile(ctx, name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	require.ErrorIs(t, jail.RemoveAll(ctx, "/"), syscall.EPERM)
	require.NoError(t, fsys.Rename(ctx, "jail", "cell"))
	vfstest.Write(t, jail, "new", "x")
	require.Equal(t, "x", vfstest.Read(t, fsys, "cell/new"), "a rename does not matter")
	require.NoError(t, fsys.RemoveAll(ctx, "cell"))
	_, err = jail.ReadFile(ctx, "in")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = fsys.OpenRoot(ctx, "secret")
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

// The rules of the verbs that move and remove names.
func TestNameVerbs(t *testing.T) {
	ctx := t.Context()
	type verb = func(fsys *vfs.FS) error
	rename := func(from, to string, opts ...vfs.Option) verb {
		return func(fsys *vfs.FS) error { return fsys.Rename(ctx, from, to, opts...) }
	}
	remove := func(name string) verb { return func(fsys *vfs.FS) error { return fsys.Remove(ctx, name) } }
	removeAll := func(name string) verb { return func(fsys *vfs.FS) error { return fsys.RemoveAll(ctx, name) } }
	mkdir := func(name string) verb { return func(fsys *vfs.FS) error { return fsys.Mkdir(ctx, name, 0o755) } }
	mkdirAll := func(name string) verb { return func(fsys *vfs.FS) error { return fsys.MkdirAll(ctx, name, 0o755) } }
	link := func(from, to string) verb { return func(fsys *vfs.FS) error { return fsys.Link(ctx, from, to) } }
	symlink := func(target, name string) verb {
		return func(fsys *vfs.FS) error { return fsys.Symlink(ctx, target, name) }
	}
	write := func(name string, opts ...vfs.Option) verb {
		return func(fsys *vfs.FS) error { return fsys.WriteFile(ctx, name, []byte("new"), 0o644, opts...) }
	}
	for _, tt := range []struct {
		name string
		do   verb
		want error
	}{
		{"rename over a file", rename("a", "b"), nil},
		{"rename to itself", rename("a", "a"), nil},
		{"rename over another name of it", rename("a", "hard"), nil},
		{"rename over a file, no replace", rename("a", "b", vfs.NoReplace()), syscall.EEXIST},
		{"rename onto a directory", rename("a", "dir"), syscall.EISDIR},
		{"rename a directory onto a file", rename("dir", "a"), syscall.ENOTDIR},
		{"rename over an empty directory", rename("dir", "empty"), nil},
		{"rename over a full directory", rename("empty", "dir"), syscall.ENOTEMPTY},
		{"rename into itself", rename("dir", "dir/sub/x"), syscall.EINVAL},
		{"rename onto its parent", rename("dir/sub", "dir"), syscall.ENOTEMPTY},
		{"rename the root", rename("/", "x"), syscall.EBUSY},
		{"rename onto the root", rename("a", "/"), syscall.EBUSY},
		{"rename what is not there", rename("none", "x"), syscall.ENOENT},
		{"rename into what is not there", rename("a", "none/x"), syscall.ENOENT},
		{"rename below a file", rename("a", "b/x"), syscall.ENOTDIR},
		{"rename a dangling link", rename("dangling", "d2"), nil},
		{"rename with parents", rename("a", "p/q/r", vfs.Parents()), nil},

		{"remove a file", remove("a"), nil},
		{"remove an empty directory", remove("empty"), nil},
		{"remove a full directory", remove("dir"), syscall.ENOTEMPTY},
		{"remove a link to a directory", remove("todir"), nil},
		{"remove what is not there", remove("none"), syscall.ENOENT},
		{"remove the root", remove("/"), syscall.EPERM},
		{"remove by dotdot", remove("dir/sub/.."), syscall.ENOTEMPTY},
		{"remove all", removeAll("dir"), nil},
		{"remove all of a link", removeAll("todir"), nil},
		{"remove all of nothing", removeAll("none/none"), nil},
		{"remove all below a file", removeAll("a/x"), syscall.ENOTDIR},
		{"remove all of the root", removeAll("."), syscall.EPERM},

		{"mkdir", mkdir("new"), nil},
		{"mkdir over a file", mkdir("a"), syscall.EEXIST},
		{"mkdir over a directory", mkdir("dir"), syscall.EEXIST},
		{"mkdir over a dangling link", mkdir("dangling"), syscall.EEXIST},
		{"mkdir the root", mkdir("/"), syscall.EEXIST},
		{"mkdir without a parent", mkdir("none/x"), syscall.ENOENT},
		{"mkdir below a file", mkdir("a/x"), syscall.ENOTDIR},
		{"mkdir all", mkdirAll("n/e/w"), nil},
		{"mkdir all that is there", mkdirAll("dir/sub"), nil},
		{"mkdir all through a link", mkdirAll("todir/x/y"), nil},
		{"mkdir all over a file", mkdirAll("a"), syscall.ENOTDIR},
		{"mkdir all below a file", mkdirAll("a/x"), syscall.ENOTDIR},

		{"link", link("a", "l"), nil},
		{"link a directory", link("dir", "l"), syscall.EPERM},
		{"link over a file", link("a", "b"), syscall.EEXIST},
		{"link what is not there", link("none", "l"), syscall.ENOENT},
		{"symlink", symlink("anywhere", "s"), nil},
		{"symlink over a file", symlink("x", "a"), syscall.EEXIST},
		{"symlink to nothing", symlink("", "s"), syscall.ENOENT},
		{"symlink to 4096 bytes", symlink(strings.Repeat("x", 4096), "s"), nil},
		{"symlink to 4097 bytes", symlink(strings.Repeat("x", 4097), "s"), syscall.ENAMETOOLONG},
		{"symlink to NUL", symlink("a\x00", "s"), syscall.EINVAL},

		{"write over a file", write("a"), nil},
		{"write through a dangling link", write("dangling"), nil},
		{"write a directory", write("dir"), syscall.EISDIR},
		{"write the root", write("/"), syscall.EISDIR},
		{"write without a parent", write("none/x"), syscall.ENOENT},
		{"write with parents", write("none/x/y", vfs.Parents()), nil},
		{"write below a file", write("a/x", vfs.Parents()), syscall.ENOTDIR},
		{"write if absent", write("a", vfs.IfAbsent()), syscall.ESTALE},
		{"write if absent, a dangling link", write("dangling", vfs.IfAbsent()), fs.ErrExist},
		{"write with an option of another verb", write("a", vfs.NoReplace()), syscall.EINVAL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t, "a", "b", "dir/sub/file", "empty/")
			require.NoError(t, fsys.Link(ctx, "a", "hard"))
			require.NoError(t, fsys.Symlink(ctx, "dir", "todir"))
			require.NoError(t, fsys.Symlink(ctx, "nowhere", "dangling"))
			before := vfstest.Dump(t, fsys)
			err := tt.do(fsys)
			require.ErrorIs(t, err, tt.want)
			if tt.want != nil {
				require.Equal(t, before, vfstest.Dump(t, fsys), "a refused verb changes nothing")
				switch err.(type) {
				case *fs.PathError, *os.LinkError:
				default:
					t.Errorf("%T names no path", err)
				}
			}
		})
	}
}

package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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

// FuzzWalk resolves any path in a tree of directories, files and symlinks, some of them loops: it never panics, fails
// only with an errno of the contract, and what it finds through a jail is in the jail.
func FuzzWalk(f *testing.F) {
	fsys, err := vfs.Open(f.Context(), filepath.Join(f.TempDir(), "a.db"), &vfs.Options{Relaxed: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { fsys.Close() })
	ctx := f.Context()
	for _, name := range []string{"out", "j/a/b/file", "j/x"} {
		if err := fsys.WriteFile(ctx, name, []byte(name), 0o644, vfs.Parents()); err != nil {
			f.Fatal(err)
		}
	}
	for name, target := range map[string]string{"j/up": "..", "j/abs": "/out", "j/loop": "loop", "j/a/l": "../x", "j/a/far": "../../../out", "j/here": "."} {
		if err := fsys.Symlink(ctx, target, name); err != nil {
			f.Fatal(err)
		}
	}
	jail, err := fsys.OpenRoot(ctx, "j")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"a/b/file", "/", "", "..", "a/../x", "loop/x", "up/up/out", "a/far", "here/here/a/l", "a\x00b", "\xff", "a/b/file/.."} {
		f.Add(seed)
	}
	allowed := []error{syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EINVAL, syscall.EISDIR}
	f.Fuzz(func(t *testing.T, name string) {
		for _, tree := range []*vfs.FS{fsys, jail} {
			data, err := tree.ReadFile(ctx, name)
			if err == nil {
				if tree == jail && !strings.HasPrefix(string(data), "j/") {
					t.Fatalf("%q leaves the jail and reads %q", name, data)
				}
				continue
			}
			var pe *fs.PathError
			if !errors.As(err, &pe) || pe.Path != name {
				t.Fatalf("%q: %T %v", name, err, err)
			}
			known := false
			for _, want := range allowed {
				known = known || errors.Is(err, want)
			}
			if !known {
				t.Fatalf("%q: %v", name, err)
			}
		}
	})
}

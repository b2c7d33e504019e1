package vfs_test

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
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

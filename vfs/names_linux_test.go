package vfs_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// twins makes the same few files in a store and in a directory of the host.
func twins(t *testing.T) (*vfs.FS, string) {
	fsys, host := vfstest.New(t, "f", "d/"), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(host, "f"), nil, 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(host, "d"), 0o755))
	for name, target := range map[string]string{"nowhere": "none", "tofile": "f", "todir": "d", "loop": "loop"} {
		require.NoError(t, os.Symlink(target, filepath.Join(host, name)))
		require.NoError(t, fsys.Symlink(t.Context(), target, name))
	}
	return fsys, host
}

// If something is in the way, MkdirAll has the error of os.MkdirAll. For a symlink that leads to itself, which os.MkdirAll
// takes for a file, it has the error of an os.Root.
func TestMkdirAllAsOnHost(t *testing.T) {
	fsys, host := twins(t)
	root, err := os.OpenRoot(host)
	require.NoError(t, err)
	defer root.Close()
	for _, name := range []string{
		"f", "f/x", "f/x/y", "tofile", "tofile/x", "nowhere", "nowhere/x", "nowhere/x/y", "todir", "todir/x", "d/y/z",
		"d/" + strings.Repeat("x", 256), strings.Repeat("x", 256) + "/y",
	} {
		want := os.MkdirAll(filepath.Join(host, name), 0o755)
		require.Equal(t, errnoOf(want), errnoOf(fsys.MkdirAll(t.Context(), name, 0o755)), name)
	}
	for _, name := range []string{"loop", "loop/x"} {
		require.ErrorIs(t, root.MkdirAll(name, 0o755), syscall.ELOOP)
		require.ErrorIs(t, fsys.MkdirAll(t.Context(), name, 0o755), syscall.ELOOP)
	}
}

// A name that is too long counts after the directories of both names are found, and a source that is not there before
// the new name. For Link it is one name after the other.
func TestLongNamesAsOnHost(t *testing.T) {
	fsys, host := twins(t)
	long := strings.Repeat("x", 256)
	names := []string{"f", "none", "d/x", "none/x", "f/x", ".", "d/..", "nowhere/x", long, "d/" + long, "none/" + long, "f/" + long, long + "/x"}
	for _, from := range names {
		for _, to := range names {
			if from == "f" && (to == "none" || to == "d/x") {
				continue // it succeeds
			}
			on, onto := filepath.Join(host)+"/"+from, filepath.Join(host)+"/"+to
			what := strings.ReplaceAll(from+" "+to, long, "LONG")
			require.Equal(t, errnoOf(syscall.Rename(on, onto)), errnoOf(fsys.Rename(t.Context(), from, to)), "rename %s", what)
			require.Equal(t, errnoOf(syscall.Link(on, onto)), errnoOf(fsys.Link(t.Context(), from, to)), "link %s", what)
		}
	}
}

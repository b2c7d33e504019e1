package run_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
	"vfsdb/snapshot"
)

// A run over a directory of the host leaves it as it is. What the command changed is the difference between a snapshot, with the
// files as they were, and the branch. Files that it did not touch are in neither.
func TestOverlayBase(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	to, err := snapshot.Branch(ctx, fsys, nil, "try")
	require.NoError(t, err)
	dir := t.TempDir()
	for _, name := range []string{"same", "changed", "gone", "d/same", "d/changed", "rm/x", "rm/y/z", "old/in"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o644))
	}
	before, err := listDir(dir)
	require.NoError(t, err)

	cmd := overlay(t, ctx, to, run.Options{Base: dir}, "/bin/sh", "-ec",
		`test -f same; echo x > changed; echo x > d/changed; rm -r gone rm; mkdir -p new/d; echo x > new/d/f; mv old moved 2>/dev/null || true`)
	require.NoError(t, cmd.Run())
	after, err := listDir(dir)
	require.NoError(t, err)
	require.Equal(t, before, after)

	base, err := snapshot.Open(ctx, fsys, "try-base")
	require.NoError(t, err)
	require.Equal(t, []string{"changed", "d/", "d/changed", "gone", "old/", "old/in", "rm/", "rm/x", "rm/y/", "rm/y/z"}, vfstest.Names(t, base.FS))
	require.Equal(t, []string{"changed", "d/", "d/changed", "moved/", "moved/in", "new/", "new/d/", "new/d/f"}, vfstest.Names(t, to))
	require.Equal(t, "changed", text(t, base.FS, "changed"))
	require.Equal(t, "x\n", text(t, to, "changed"))
	require.Equal(t, "old/in", text(t, to, "moved/in"))
	_, err = fsys.Stat(ctx, "changed")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Positive(t, cmd.Result.Changed)
}

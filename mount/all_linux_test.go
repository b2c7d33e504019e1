package mount_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// allOn mounts all trees of a store until the test ends.
func allOn(t *testing.T, fsys *vfs.FS) (dir string) {
	t.Helper()
	dir = t.TempDir()
	m, err := mount.All(t.Context(), fsys, dir)
	skipNotAllowed(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			_ = m.Detach()
			return
		}
		require.NoError(t, m.Unmount())
	})
	return dir
}

// names lists a directory.
func names(t *testing.T, dir ...string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir...))
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// shows waits until a file has a content; "" waits until there is none.
func shows(t *testing.T, name, want string) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(name)
		return err == nil && string(text) == want || os.IsNotExist(err) && want == ""
	}, time.Minute, 5*time.Millisecond, "%s", name)
}

// A mount of all trees shows branches and snapshots by name, and branches follow writes.
func TestAll(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("one"), 0o644))
	vfstest.Snapshot(t, fsys, "first")
	try := vfstest.Branch(t, fsys, "try")
	require.NoError(t, try.WriteFile(ctx, "d/g", []byte("in try"), 0o644, vfs.Parents()))
	dir := allOn(t, fsys)
	main, tried := filepath.Join(dir, "branches/main"), filepath.Join(dir, "branches/try")

	require.Equal(t, []string{"branches", "snapshots"}, names(t, dir))
	require.Equal(t, []string{"main", "try"}, names(t, dir, "branches"))
	require.Equal(t, []string{"first"}, names(t, dir, "snapshots"))
	require.Equal(t, []string{"f"}, names(t, main))
	require.Equal(t, []string{"d", "f"}, names(t, tried))
	shows(t, filepath.Join(tried, "d/g"), "in try")
	shows(t, filepath.Join(main, "f"), "one")
	_, err := os.Stat(filepath.Join(dir, "branches/none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = os.Stat(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, os.WriteFile(filepath.Join(main, "new"), nil, 0o644), syscall.EROFS)
	require.ErrorIs(t, os.Mkdir(filepath.Join(dir, "branches/new"), 0o755), syscall.EROFS)

	// Writes, new names, removed names, and a content that another file had; the same length and times do not matter.
	info, err := fsys.Stat(ctx, "f")
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("two"), 0o644))
	require.NoError(t, fsys.Chtimes(ctx, "f", info.ModTime(), info.ModTime()))
	shows(t, filepath.Join(main, "f"), "two")
	require.NoError(t, fsys.WriteFile(ctx, "d/new", []byte("longer than before"), 0o644, vfs.Parents()))
	shows(t, filepath.Join(main, "d/new"), "longer than before")
	require.NoError(t, fsys.Rename(ctx, "d/new", "d/moved"))
	shows(t, filepath.Join(main, "d/moved"), "longer than before")
	shows(t, filepath.Join(main, "d/new"), "")
	require.NoError(t, fsys.RemoveAll(ctx, "d"))
	shows(t, filepath.Join(main, "d/moved"), "")
	require.Eventually(t, func() bool { return len(names(t, main)) == 1 }, time.Minute, 5*time.Millisecond)
	shows(t, filepath.Join(dir, "snapshots/first/f"), "one")
	shows(t, filepath.Join(tried, "f"), "one")
}

// What other processes write is seen too; branches and snapshots come and go.
func TestAllComesAndGoes(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	dir := allOn(t, fsys)
	other, err := vfs.Open(ctx, fsys.Store().Path(), nil)
	require.NoError(t, err)
	defer other.Close()
	_, err = os.Stat(filepath.Join(dir, "branches/new"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, []string{"main"}, names(t, dir, "branches"))

	made := vfstest.Branch(t, other, "new")
	require.NoError(t, made.WriteFile(ctx, "g", []byte("text"), 0o644))
	shows(t, filepath.Join(dir, "branches/new/g"), "text")
	require.Eventually(t, func() bool { return len(names(t, dir, "branches")) == 2 }, time.Minute, 5*time.Millisecond)

	vfstest.Snapshot(t, made, "kept")
	shows(t, filepath.Join(dir, "snapshots/kept/g"), "text")
	open, err := os.Open(filepath.Join(dir, "snapshots/kept/g"))
	require.NoError(t, err)
	defer open.Close()
	require.NoError(t, made.WriteFile(ctx, "g", []byte("later"), 0o644))
	shows(t, filepath.Join(dir, "branches/new/g"), "later")
	require.NoError(t, snapshot.Delete(ctx, other, "kept"))
	require.NoError(t, snapshot.DeleteBranch(ctx, other, "new"))
	require.Eventually(t, func() bool { return len(names(t, dir, "branches")) == 1 && len(names(t, dir, "snapshots")) == 0 }, time.Minute, 5*time.Millisecond)
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "branches/new"))
		return os.IsNotExist(err)
	}, time.Minute, 5*time.Millisecond)

	// A program that has a file of the snapshot open keeps it.
	_, err = gc.Run(ctx, other, nil)
	require.NoError(t, err)
	text := make([]byte, 10)
	n, err := open.ReadAt(text, 0)
	require.EqualValues(t, "text", text[:n], "%v", err)
}

// Numbers of inodes are of one file in all of the mount, though trees share numbers.
func TestAllNumbers(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "f", []byte("one"), 0o644))
	require.NoError(t, fsys.Link(ctx, "f", "g"))
	vfstest.Branch(t, fsys, "try")
	vfstest.Snapshot(t, fsys, "s")
	dir := allOn(t, fsys)

	number := func(name string) uint64 {
		var st syscall.Stat_t
		require.NoError(t, syscall.Stat(filepath.Join(dir, name), &st))
		return st.Ino
	}
	seen := map[uint64]string{}
	for _, tree := range []string{".", "branches", "snapshots", "branches/main", "branches/try", "snapshots/s", "branches/main/f", "branches/try/f", "snapshots/s/f"} {
		n := number(tree)
		require.NotContains(t, seen, n, tree)
		seen[n] = tree
	}
	require.Equal(t, number("branches/main/f"), number("branches/main/g"))
	entries := names(t, dir, "branches/main")
	require.Equal(t, []string{"f", "g"}, entries)
}

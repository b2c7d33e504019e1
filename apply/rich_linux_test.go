package apply_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/apply"
	"vfsdb/internal/vfstest"
	"vfsdb/run"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// Extended attributes and fifos go out too, and attributes of the directory stay.
func TestRich(t *testing.T) {
	ctx := t.Context()
	b := newBench(t, "a", "b", "d/c")
	require.NoError(t, xattr.Set(ctx, b.try, "a", true, "user.theirs", []byte("1"), 0))
	require.NoError(t, xattr.Set(ctx, b.try, "d", true, "user.dir", []byte("2"), 0))
	require.NoError(t, b.try.Update(ctx, func(tx *vfs.Tx) error { return tx.Mknod("d/fifo", os.ModeNamedPipe|0o640, 0) }))
	b.write("b", "x")
	if err := unix.Setxattr(filepath.Join(b.dir, "b"), "user.mine", []byte("3"), 0); err != nil {
		t.Skip(err)
	}

	r := b.apply()
	require.Empty(t, r.Conflicts)
	require.Empty(t, r.Refused)
	for name, want := range map[string]string{"a": "user.theirs=1", "d": "user.dir=2", "b": "user.mine=3"} {
		attr, value := want[:len(want)-2], make([]byte, 8)
		n, err := unix.Getxattr(filepath.Join(b.dir, name), attr, value)
		require.NoError(t, err, name)
		require.Equal(t, want[len(want)-1:], string(value[:n]))
	}
	info, err := os.Lstat(filepath.Join(b.dir, "d", "fifo"))
	require.NoError(t, err)
	require.Equal(t, os.ModeNamedPipe|0o640, info.Mode())
	require.Empty(t, b.apply().Changes)
}

// What a run over a directory did in a branch, an apply makes of the directory: what the command itself makes of a copy.
func TestRunBase(t *testing.T) {
	ctx := t.Context()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	b := &bench{t: t, dir: t.TempDir(), main: vfstest.New(t)}
	for _, f := range []string{"same", "changed", "gone", "d/same", "d/changed", "rm/x", "rm/y/z", "old/in", "mode", "moved"} {
		b.put(f)
	}
	plain := t.TempDir()
	require.NoError(t, os.CopyFS(plain, os.DirFS(b.dir)))
	var err error
	b.try, err = snapshot.Branch(ctx, b.main, nil, "try")
	require.NoError(t, err)

	const script = `echo x > changed; echo x > d/changed; rm -r gone rm; mkdir -p new/empty; echo x > new/f; mv old to; chmod 755 mode
		mv moved d/moved; ln -s changed link; ln changed hard`
	cmd := run.Command(ctx, b.try, run.Options{Via: run.Overlay, Base: b.dir}, "/bin/sh", "-ec", script)
	err = cmd.Run()
	if unable := new(run.UnableError); errors.As(err, &unable) {
		t.Skip(err)
	}
	require.NoError(t, err)
	other := run.Command(ctx, b.main, run.Options{Via: run.Copy, ReadOnly: true}, "/bin/sh", "-ec", "cd "+plain+"; "+script)
	require.NoError(t, other.Run())

	// No prune takes the snapshot that the run has left.
	_, err = snapshot.Create(ctx, b.try, "newest", nil)
	require.NoError(t, err)
	_, err = snapshot.Prune(ctx, b.try, &snapshot.PruneOptions{Policy: snapshot.Policy{Last: 1}})
	require.NoError(t, err)

	r := b.apply()
	require.Contains(t, r.Base, "try-base")
	require.Empty(t, r.Conflicts, "%v", r.Conflicts)
	require.Empty(t, r.Refused)
	require.Equal(t, contents(t, plain), contents(t, b.dir))
	want, err := filepath.Glob(plain + "/*/*")
	require.NoError(t, err)
	got, err := filepath.Glob(b.dir + "/*/*")
	require.NoError(t, err)
	require.Len(t, got, len(want))
	require.DirExists(t, filepath.Join(b.dir, "new", "empty"))

	dry, err := apply.To(ctx, b.try, b.dir, &apply.Options{DryRun: true})
	require.NoError(t, err)
	require.Empty(t, dry.Patch)
}

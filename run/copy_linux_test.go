package run_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
)

// A process that outlives a killed run keeps its directory: the next run has another one, and brings back nothing of it.
func TestCopyOutlived(t *testing.T) {
	for _, confined := range []string{"", "1"} {
		t.Run("confined"+confined, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			fsys := vfstest.New(t, "a")
			if confined != "" {
				able(t, shell(t, t.Context(), fsys, run.Options{Confine: true}, "true").Run())
			}
			cache, signs := t.TempDir(), t.TempDir()
			db := fsys.Store().Path()
			cmd := runner(t, run.Copy, db, cache, "/bin/sh", "-c", `
				(until test -e "$1/end"; do echo x > stray; sleep 0.01; done) & wait`, "sh", signs)
			cmd.Env = append(cmd.Env, runnerConfineEnv+"="+confined)
			require.NoError(t, cmd.Start())
			first := filepath.Join(cache, "vfsdb", "copy", "*", "0", "tree", "stray")
			written := func() bool { found, _ := filepath.Glob(first); return len(found) == 1 }
			require.Eventually(t, written, long, tick)
			require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
			_ = cmd.Wait()
			out, err := runner(t, run.Copy, db, cache, "/bin/sh", "-c", "pwd; ls").Output()
			require.NoError(t, err)
			require.Regexp(t, `/1/tree\na\n$`, string(out))

			require.NoError(t, os.WriteFile(filepath.Join(signs, "end"), nil, 0o600))
			require.Eventually(t, func() bool { return len(processesOf(cache)) == 0 }, long, tick)
			out, err = runner(t, run.Copy, db, cache, "/bin/sh", "-c", "pwd; ls").Output()
			require.NoError(t, err)
			require.Regexp(t, `/0/tree\na\n$`, string(out))
			require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))
		})
	}
}

// Where the host has no room for the tree, the run is refused, and nothing of the tree stays there. The next run, for which there is
// room, has all.
func TestCopyNoRoom(t *testing.T) {
	cache := t.TempDir()
	if err := unix.Mount("none", cache, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(cache, unix.MNT_DETACH)) })
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "d/b")
	shows := func(names string) {
		out, err := shell(t, ctx, fsys, run.Options{Cache: cache}, "find . | sort | tr '\n' ' '").Output()
		require.NoError(t, err)
		require.Equal(t, names, string(out))
	}
	shows(". ./a ./d ./d/b ")
	for _, name := range []string{"d/c", "e"} {
		require.NoError(t, fsys.WriteFile(ctx, name, make([]byte, 10), 0o644))
		f, err := fsys.OpenFile(ctx, name, os.O_RDWR, 0)
		require.NoError(t, err)
		for i := range 300 {
			_, err := f.WriteAt([]byte{byte(i), 1}, int64(i)*4096)
			require.NoError(t, err)
		}
		require.NoError(t, f.Close())
	}
	for range 2 {
		cmd := shell(t, ctx, fsys, run.Options{Cache: cache}, "echo x > never")
		require.ErrorIs(t, cmd.Run(), syscall.ENOSPC)
		require.Nil(t, cmd.Result)
	}
	var st unix.Statfs_t
	require.NoError(t, unix.Statfs(cache, &st))
	require.Greater(t, st.Bfree, st.Blocks*9/10, "nothing of the tree is left")
	require.NoError(t, fsys.Remove(ctx, "e"))
	require.NoError(t, fsys.Truncate(ctx, "d/c", 5))
	shows(". ./a ./d ./d/b ./d/c ")

	// A command that fills the disk has its result brought back all the same.
	cmd := shell(t, ctx, fsys, run.Options{Cache: cache}, "echo x > new; rm a; dd if=/dev/zero of=big bs=1000 2>/dev/null; true")
	require.NoError(t, cmd.Run())
	require.Equal(t, "x\n", text(t, fsys, "new"))
	require.NoError(t, fsys.Remove(ctx, "big"))
	shows(". ./d ./d/b ./d/c ./new ")
}

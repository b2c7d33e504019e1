package run_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
	"vfsdb/vfs"
)

// Processes that a command leaves behind end with the run, and what they did until then is there.
func TestOverlayEndsAll(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	mark := "VFS_TEST_MARK=" + t.TempDir()
	cmd := overlay(t, ctx, fsys, run.Options{Env: []string{mark}}, "/bin/sh", "-ec", `
		(trap 'echo ended > end; exit' TERM; : > waits; while :; do sleep 0.01; done) >/dev/null 2>&1 &
		(trap '' TERM HUP; : > ignores; exec sleep 1000) >/dev/null 2>&1 &
		while ! test -e waits -a -e ignores; do sleep 0.01; done`)
	require.NoError(t, cmd.Run())
	require.Equal(t, "ended\n", text(t, fsys, "end"))
	require.Empty(t, processesOf(mark))
}

// A result that cannot be stored stays on the host, and the error names the directory; so does the result, whether the directory
// was to be kept anyway or not.
func TestKept(t *testing.T) {
	for _, via := range []run.Via{run.Overlay, run.Copy} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprint(via, " ", keep), func(t *testing.T) {
				fsys := vfstest.New(t, "a")
				result, err := meanwhile(t, fsys, run.Options{Via: via, Keep: keep}, "echo kept > a", "true", func() {
					fsys.Store().SetReadOnly(true)
				})
				fsys.Store().SetReadOnly(false)

				var kept *run.KeptError
				require.ErrorAs(t, err, &kept)
				require.ErrorIs(t, err, syscall.EROFS)
				require.Equal(t, kept.Dir, result.Kept)
				text, err := os.ReadFile(filepath.Join(kept.Dir, "a"))
				require.NoError(t, errors.Join(err, os.RemoveAll(filepath.Dir(kept.Dir))))
				require.Equal(t, "kept\n", string(text))
			})
		}
	}
}

// A result for which the store has no room stays on the host, also where it was to be merged: no branch with a part of it, or
// with nothing, is left.
func TestKeptOfMerge(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=12m"); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	ctx := t.Context()
	for _, via := range []run.Via{run.Overlay, run.Copy} {
		fsys, err := vfs.Open(ctx, filepath.Join(disk, string(via)+".db"), nil)
		require.NoError(t, err)
		_, err = meanwhile(t, fsys, run.Options{Via: via}, "head -c 7000000 /dev/urandom > large", "true", func() {
			vfstest.Write(t, fsys, "other", "")
			fill(t, filepath.Join(disk, "full"))
		})
		var kept *run.KeptError
		require.ErrorAs(t, err, &kept)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.FileExists(t, filepath.Join(kept.Dir, "large"))
		require.NoError(t, os.RemoveAll(filepath.Dir(kept.Dir)))

		list, err := fsys.Store().Branches(ctx)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, []string{"other"}, vfstest.Names(t, fsys))
		require.NoError(t, fsys.Close())
		for _, name := range []string{"full", string(via) + ".db"} {
			require.NoError(t, os.Remove(filepath.Join(disk, name)))
		}
	}
}

// fill makes a file that leaves 2 MiB of a disk.
func fill(t *testing.T, name string) {
	t.Helper()
	var st unix.Statfs_t
	require.NoError(t, unix.Statfs(filepath.Dir(name), &st))
	require.NoError(t, os.WriteFile(name, make([]byte, int64(st.Bavail)*st.Bsize-2<<20), 0o600))
}

// The process of the run keeps nothing of the tree open, however the command ends: else the kernel could not free it.
func TestOverlayFrees(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/f")
	opened := func() (n int) {
		list, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		for _, e := range list {
			var st unix.Statfs_t
			fd, err := strconv.Atoi(e.Name())
			require.NoError(t, err)
			if unix.Fstatfs(fd, &st) == nil && st.Type == unix.OVERLAYFS_SUPER_MAGIC {
				n++
			}
		}
		return n
	}
	before := opened()
	for script, o := range map[string]run.Options{
		"echo more >> d/f": {},
		"cat d/f":          {Confine: true},
		"kill -9 $$":       {},
		"exec sleep 1000":  {Timeout: time.Millisecond},
		"echo more >> f":   {Base: t.TempDir()},
	} {
		cmd := overlay(t, ctx, fsys, o, "/bin/sh", "-c", script)
		if err := cmd.Run(); err != nil {
			require.ErrorAs(t, err, new(*run.ExitError), script)
		}
		require.NoError(t, cmd.Clean())
		require.Equal(t, before, opened(), script)
	}

	mark := "VFS_TEST_MARK=" + t.TempDir()
	cmd := overlay(t, ctx, fsys, run.Options{Env: []string{mark}}, "/bin/sh", "-c", "exec sleep 1000")
	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	require.Eventually(t, func() bool { return len(processesOf(mark)) > 0 }, long, tick)
	killChildren(os.Getpid())
	require.ErrorAs(t, <-done, new(*run.ExitError))
	require.NoError(t, cmd.Clean())
	require.Equal(t, before, opened())
}

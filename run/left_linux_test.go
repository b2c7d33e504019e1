package run_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
)

// leaver is a shell script that leaves a process in a session of its own, with $1/ready as its sign. It waits for $1/end.
const leaver = `setsid sh -c ': > "$1/ready"; until test -e "$1/end"; do sleep 0.01; done; echo late > late; : > "$1/ended"' sh "$1" </dev/null >/dev/null 2>&1 &
	until test -e "$1/ready"; do sleep 0.01; done; echo now > now`

// A process that leaves the group of the command outlives the run by copy, and the branch gets nothing of it. By overlay it
// ends with the run.
func TestLeft(t *testing.T) {
	for _, via := range []run.Via{run.Overlay, run.Copy} {
		t.Run(string(via), func(t *testing.T) {
			fsys, signs, mark := vfstest.New(t), t.TempDir(), "VFS_TEST_MARK="+t.TempDir()
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			err := run.Command(t.Context(), fsys, run.Options{Via: via, Env: []string{mark}}, "/bin/sh", "-c", leaver, "sh", signs).Run()
			able(t, err)
			require.NoError(t, err)
			require.Equal(t, []string{"now"}, vfstest.Names(t, fsys))
			if via == run.Overlay {
				require.Empty(t, processesOf(mark))
				return
			}
			require.NotEmpty(t, processesOf(mark))
			require.NoError(t, os.WriteFile(filepath.Join(signs, "end"), nil, 0o600))
			require.Eventually(t, func() bool { return len(processesOf(mark)) == 0 }, long, tick)
			require.FileExists(t, filepath.Join(signs, "ended"))
			require.Equal(t, []string{"now"}, vfstest.Names(t, fsys))
		})
	}
}

// By live a run waits for the process, and the branch gets all.
func TestLiveWaits(t *testing.T) {
	fsys, signs := vfstest.New(t), t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	end := func() { require.NoError(t, os.WriteFile(filepath.Join(signs, "end"), nil, 0o600)) }
	cmd := run.Command(t.Context(), fsys, run.Options{Via: run.Live, Left: end}, "/bin/sh", "-c", leaver, "sh", signs)
	err := cmd.Run()
	able(t, err)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"now", "late"}, vfstest.Names(t, fsys))
	require.Equal(t, 2, cmd.Result.Changed)
	require.Empty(t, leftInTemp(t, os.TempDir()))
}

// A signal ends the wait. The process loses the tree when the program of the run ends, and the branch has what was there before.
func TestLiveWaitEnds(t *testing.T) {
	fsys, signs, temp := vfstest.New(t), t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	able(t, shell(t, t.Context(), fsys, run.Options{Via: run.Live}, "true").Run())
	cmd := runner(t, run.Live, fsys.Store().Path(), t.TempDir(), "/bin/sh", "-c", leaver, "sh", signs)
	cmd.Env = append(cmd.Env, runnerLeftEnv+"="+filepath.Join(signs, "left"))
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(signs, "left")); return err == nil }, long, tick)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, 1, exit.ExitCode())

	require.NoError(t, os.WriteFile(filepath.Join(signs, "end"), nil, 0o600))
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(signs, "ended")); return err == nil }, long, tick)
	require.Equal(t, []string{"now"}, vfstest.Names(t, fsys))
	require.NoError(t, shell(t, t.Context(), fsys, run.Options{Via: run.Copy}, "true").Run())
	require.Empty(t, leftInTemp(t, temp))
}

package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
	"vfsdb/vfs"
)

// runnerEnv makes the test binary run the rest of its command line by overlay, in the store that the variable names.
const runnerEnv = "VFS_TEST_RUNNER"

// runRunner is that program. It ends as the command does.
func runRunner(db string, args []string) error {
	ctx := context.Background()
	fsys, err := vfs.Open(ctx, db, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	cmd := run.Command(ctx, fsys, run.Options{Via: run.Overlay, Signals: signals, Env: []string{runnerEnv + "="}}, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err = cmd.Run(); cmd.Result != nil && cmd.Result.ExitCode != 0 {
		os.Exit(cmd.Result.ExitCode)
	}
	return err
}

// runner returns the process of runRunner.
func runner(t *testing.T, db, cache string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), runnerEnv+"="+db, "XDG_CACHE_HOME="+cache)
	return cmd
}

// After a SIGKILL of the process that runs a command the branch is as it was, or has all that the command did. After one of the
// first process of its namespaces it has what the command did until then, as after any signal. No process is left, no mount,
// and after the next run no directory.
func TestKillOverlay(t *testing.T) {
	kills := 8
	if text := os.Getenv("VFS_KILLS"); text != "" {
		var err error
		kills, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	fsys := vfstest.New(t)
	overlay(t, t.Context(), fsys, run.Options{}, "true") // skips where there is none
	cache, db := t.TempDir(), fsys.Store().Path()
	const files = 20
	script := `i=0; while [ $i -lt 20 ]; do echo "$1" > f$i; i=$((i+1)); done`
	require.NoError(t, runner(t, db, cache, "/bin/sh", "-c", script, "sh", "0").Run())

	last := "0"
	random := rand.New(rand.NewPCG(1, 3))
	for i := range kills {
		next := strconv.Itoa(i + 1)
		cmd := runner(t, db, cache, "/bin/sh", "-c", script, "sh", next)
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(random.Int64N(int64(120 * time.Millisecond)))) // any moment will do
		who := random.IntN(3)
		if who > 0 {
			killChildren(cmd.Process.Pid)
		}
		if who < 2 {
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()

		got := make([]string, files)
		for n := range got {
			got[n] = strings.TrimSpace(text(t, fsys, fmt.Sprint("f", n)))
		}
		for n, now := range got {
			if who == 0 {
				require.Equal(t, got[0], now, "kill %d", i)
			}
			// A file that was about to be written is empty.
			require.Contains(t, []string{last, next, ""}, now, "kill %d, file %d", i, n)
		}
		require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			for n := range files {
				if err := tx.WriteFile(fmt.Sprint("f", n), []byte(next), 0o644); err != nil {
					return err
				}
			}
			return nil
		}))
		last = next
	}

	require.Eventually(t, func() bool { return len(processesOf(cache)) == 0 }, long, tick, "processes are left")
	require.NoError(t, runner(t, db, cache, "true").Run())
	require.Empty(t, leftIn(t, cache))
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	require.NotContains(t, string(mounts), cache)
}

// killChildren kills the children of a process.
func killChildren(pid int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
}

// processesOf returns the processes that have a text in their environment.
func processesOf(text string) (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(text)) {
			list = append(list, file)
		}
	}
	return list
}

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

// A result that cannot be stored stays on the host, and the error names the directory.
func TestOverlayKept(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	cmd := overlay(t, ctx, fsys, run.Options{}, "/bin/sh", "-ec", `echo kept > a; while test -e "$1"; do sleep 0.01; done`, "sh", "")
	gate := filepath.Join(t.TempDir(), "gate")
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	cmd = run.Command(ctx, fsys, run.Options{Via: run.Overlay}, "/bin/sh", "-ec", `echo kept > a; while test -e "$1"; do sleep 0.01; done`, "sh", gate)
	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	require.Eventually(t, func() bool { return len(processesOf("VFS_BRANCH=main")) > 0 }, long, tick)
	fsys.Store().SetReadOnly(true)
	require.NoError(t, os.Remove(gate))
	err := <-done
	fsys.Store().SetReadOnly(false)

	var kept *run.KeptError
	require.ErrorAs(t, err, &kept)
	require.ErrorIs(t, err, syscall.EROFS)
	text, err := os.ReadFile(filepath.Join(kept.Dir, "a"))
	require.NoError(t, errors.Join(err, os.RemoveAll(filepath.Dir(kept.Dir))))
	require.Equal(t, "kept\n", string(text))
}

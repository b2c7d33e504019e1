package run_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
	"vfsdb/vfs"
)

// runnerEnv makes the test binary run the rest of its command line in the store that the variable names. runnerViaEnv names the
// way, and with runnerConfineEnv the command is confined. runnerLeftEnv names the file that Left makes, and runnerTimeoutEnv
// the timeout, if there is one.
const (
	runnerEnv        = "VFS_TEST_RUNNER"
	runnerViaEnv     = "VFS_TEST_RUNNER_VIA"
	runnerConfineEnv = "VFS_TEST_RUNNER_CONFINE"
	runnerLeftEnv    = "VFS_TEST_RUNNER_LEFT"
	runnerTimeoutEnv = "VFS_TEST_RUNNER_TIMEOUT"
)

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
	timeout, err := time.ParseDuration(cmp.Or(os.Getenv(runnerTimeoutEnv), "0"))
	if err != nil {
		return err
	}
	o := run.Options{
		Via: run.Via(os.Getenv(runnerViaEnv)), Confine: os.Getenv(runnerConfineEnv) != "", Timeout: timeout,
		Signals: signals, Env: []string{runnerEnv + "="},
		Left: func() { _ = os.WriteFile(os.Getenv(runnerLeftEnv), nil, 0o600) },
	}
	cmd := run.Command(ctx, fsys, o, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if failed := cmd.Clean(); failed != nil {
		return failed
	}
	if cmd.Result != nil && cmd.Result.ExitCode != 0 {
		os.Exit(cmd.Result.ExitCode)
	}
	return err
}

// runner returns the process of runRunner.
func runner(t *testing.T, via run.Via, db, cache string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), runnerEnv+"="+db, runnerViaEnv+"="+string(via), "XDG_CACHE_HOME="+cache)
	return cmd
}

// A killing kills runs of a way at random moments. Each of them writes the same files, one after the other.
type killing struct {
	via  run.Via
	left func(t *testing.T, files []string, last, next string) // checks what a kill of the run alone has left
	next func(t *testing.T, k *killed)                         // checks the run after it; may be nil
}

// A killed is the store of a killing.
type killed struct {
	fsys  *vfs.FS
	cache string
	files []string // what they have
}

// killedFiles is how many files a run writes.
const killedFiles = 20

// read reads the files.
func (k *killed) read(t *testing.T) {
	k.files = make([]string, killedFiles)
	for n := range k.files {
		k.files[n] = strings.TrimSpace(text(t, k.fsys, fmt.Sprintf("f%02d", n)))
	}
}

// kills returns how many runs of one way are killed: in all as many as VFS_KILLS says.
func kills(t *testing.T) int {
	text := os.Getenv("VFS_KILLS")
	if text == "" {
		return 6
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return (n + 2) / 3
}

// kill kills the process that runs a command, the command, or both. No process is left, and after the next run no mount and no
// directory.
func (k killing) kill(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	fsys := vfstest.New(t)
	able(t, shell(t, t.Context(), fsys, run.Options{Via: k.via}, "true").Run())
	confine := shell(t, t.Context(), fsys, run.Options{Via: k.via, Confine: true}, "true").Run() == nil
	at := &killed{fsys: fsys, cache: t.TempDir()}
	db := fsys.Store().Path()
	const script = `i=0; while [ $i -lt 20 ]; do n=$i; test $i -gt 9 || n=0$i; echo "$1" > f$n; i=$((i+1)); done`
	began := time.Now()
	require.NoError(t, runner(t, k.via, db, at.cache, "/bin/sh", "-c", script, "sh", "0").Run())
	took := time.Since(began)

	last := "0"
	random := rand.New(rand.NewPCG(1, 3))
	for i := range kills(t) {
		next := strconv.Itoa(i + 1)
		cmd := runner(t, k.via, db, at.cache, "/bin/sh", "-c", script, "sh", next)
		if confine && i%2 == 1 {
			cmd.Env = append(cmd.Env, runnerConfineEnv+"=1")
		}
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(random.Int64N(int64(took)))) // any moment will do
		victim := random.IntN(3)
		if victim > 0 {
			killChildren(cmd.Process.Pid)
		}
		if victim < 2 {
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()

		at.read(t)
		for n, now := range at.files {
			// A file that was about to be written is empty.
			require.Contains(t, []string{last, next, ""}, now, "kill %d, file %d", i, n)
		}
		if victim == 0 {
			k.left(t, at.files, last, next)
		}
		if k.next != nil {
			k.next(t, at)
		}
		require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			for n := range at.files {
				if err := tx.WriteFile(fmt.Sprintf("f%02d", n), []byte(next), 0o644); err != nil {
					return err
				}
			}
			return nil
		}))
		last = next
	}

	require.Eventually(t, func() bool { return len(processesOf(at.cache)) == 0 }, long, tick, "processes are left")
	require.NoError(t, runner(t, run.Copy, db, at.cache, "true").Run())
	require.Empty(t, leftIn(t, at.cache))
	require.Empty(t, leftInTemp(t, temp))
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	require.NotContains(t, string(mounts), at.cache)
	require.NotContains(t, string(mounts), temp)
}

// oneCommit checks that a branch has all that a run did, or nothing.
func oneCommit(t *testing.T, files []string, last, next string) {
	require.Contains(t, []string{last, next}, files[0])
	for _, now := range files {
		require.Equal(t, files[0], now)
	}
}

// After a SIGKILL of the process that runs a command by overlay the branch is as it was, or has all that the command did. After
// one of the first process of its namespaces it has what the command did until then, as after any signal.
func TestKillOverlay(t *testing.T) { killing{via: run.Overlay, left: oneCommit}.kill(t) }

// By copy it is the same, and the next run sees what the branch has.
func TestKillCopy(t *testing.T) {
	killing{via: run.Copy, left: oneCommit, next: func(t *testing.T, k *killed) {
		seq, err := k.fsys.Seq(t.Context())
		require.NoError(t, err)
		out, err := runner(t, run.Copy, k.fsys.Store().Path(), k.cache, "/bin/sh", "-c", `for f in *; do echo "$(cat $f)"; done`).Output()
		require.NoError(t, err)
		require.Equal(t, strings.Join(k.files, "\n")+"\n", string(out))
		after, err := k.fsys.Seq(t.Context())
		require.NoError(t, err)
		require.Equal(t, seq, after, "it changes nothing")
	}}.kill(t)
}

// By live the branch has what the command did until the last commit: all of it is in order.
func TestKillLive(t *testing.T) {
	killing{via: run.Live, left: func(t *testing.T, files []string, last, next string) {
		n := slices.IndexFunc(files, func(now string) bool { return now != next })
		if n >= 0 && files[n] == "" {
			n++
		}
		for ; n >= 0 && n < len(files); n++ {
			require.Equal(t, last, files[n], "%d of %q", n, files)
		}
	}}.kill(t)
}

// A run by live that is killed while its program is looked for in the tree ends: no thread of it waits for its own answer.
func TestKillLiveLooking(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	fsys := vfstest.New(t, "d/f")
	able(t, shell(t, t.Context(), fsys, run.Options{Via: run.Live}, "true").Run())
	var path strings.Builder
	for n := range 10_000 {
		fmt.Fprintf(&path, "d/%d:", n) // each is asked for once
	}
	random := rand.New(rand.NewPCG(1, 4))
	for range kills(t) {
		cmd := runner(t, run.Live, fsys.Store().Path(), t.TempDir(), "true")
		cmd.Env = append(cmd.Env, "PATH="+path.String()+os.Getenv("PATH"))
		require.NoError(t, cmd.Start())
		var mounted []string
		require.Eventually(t, func() bool {
			mounted = nil
			for _, dir := range leftInTemp(t, os.TempDir()) {
				if list, _ := os.ReadDir(filepath.Join(dir, "in")); len(list) > 0 {
					mounted = append(mounted, filepath.Join(dir, "in"))
				}
			}
			return len(mounted) == 1
		}, long, tick)

		time.Sleep(time.Duration(random.Int64N(int64(50 * time.Millisecond)))) // any moment will do
		require.NoError(t, cmd.Process.Kill())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(long):
			_ = unix.Unmount(mounted[0], unix.MNT_FORCE)
			t.Fatal("the killed process stays")
		}
		require.NoError(t, unix.Unmount(mounted[0], unix.MNT_DETACH))
	}
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

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// mounted starts a mount, and returns once the directory can be read.
func mounted(t *testing.T, vfsctl, db, ref, dir string, flags ...string) *exec.Cmd {
	t.Helper()
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skipf("FUSE is not allowed here: %v", err)
	} else {
		f.Close()
	}
	if _, err := exec.LookPath("fusermount3"); err != nil && os.Geteuid() != 0 {
		t.Skipf("only root may mount here: %v", err)
	}
	cmd := exec.Command(vfsctl, append([]string{"--db", db, "--json", "mount", ref, dir}, flags...)...)
	want := `{"mounted": "` + ref + `", "on": "` + dir + `"}`
	if ref == "--all" {
		want = `{"mounted": "", "all": true, "on": "` + dir + `"}`
	}
	cmd.Stderr = new(warnings)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = syscall.Unmount(dir, 2) // MNT_DETACH, if the test has failed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.JSONEq(t, want, line)
	return cmd
}

// warnings are the messages of a command that runs.
type warnings struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *warnings) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// A copy of a mount in another mount namespace keeps the command alive after it has unmounted the directory. The command says
// so, and ends with the copy.
func TestMountCopied(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a namespace of mounts needs root")
	}
	vfsctl, work := binary(t), t.TempDir()
	db, dir := filepath.Join(work, "agent.db"), filepath.Join(work, "mnt")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, exec.Command(vfsctl, "--db", db, "init").Run())
	cmd := mounted(t, vfsctl, db, "main", dir, "--live")
	holder := exec.CommandContext(t.Context(), "cat")
	holder.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	in, err := holder.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())

	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.Eventually(t, func() bool {
		return strings.Contains(cmd.Stderr.(*warnings).String(), "another mount namespace")
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, in.Close())
	require.NoError(t, holder.Wait())
	require.NoError(t, cmd.Wait())
}

// A signal unmounts the directory and ends the command. What a killed one has left can be mounted on again.
func TestMountSignals(t *testing.T) {
	vfsctl, work := binary(t), t.TempDir()
	db, dir := filepath.Join(work, "agent.db"), filepath.Join(work, "mnt")
	require.NoError(t, os.Mkdir(dir, 0o755))
	put := exec.Command(vfsctl, "--db", db, "init")
	require.NoError(t, put.Run())
	put = exec.Command(vfsctl, "--db", db, "mkdir", "shown")
	require.NoError(t, put.Run())

	shows := func(want int) {
		t.Helper()
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, list, want)
	}
	for _, signal := range endings() {
		cmd := mounted(t, vfsctl, db, "main", dir)
		shows(1)
		require.NoError(t, cmd.Process.Signal(signal))
		require.NoError(t, cmd.Wait())
		shows(0)
	}

	killed := mounted(t, vfsctl, db, "main", dir)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	_, err := os.ReadDir(dir)
	require.ErrorIs(t, err, syscall.ENOTCONN)
	cmd := mounted(t, vfsctl, db, "main", dir)
	shows(1)

	// While a program uses the directory, it is taken away, and the command waits for the program.
	f, err := os.Open(filepath.Join(dir, "shown"))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.Eventually(t, func() bool {
		list, err := os.ReadDir(dir)
		return err == nil && len(list) == 0
	}, time.Minute, 10*time.Millisecond)
	_, err = f.Readdirnames(-1)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, cmd.Wait())
}

// A live mount that is killed at any moment leaves a sound file, in which all is that was synced before, and a directory that
// can be mounted on again. VFS_KILLS is how often.
func TestKillMount(t *testing.T) {
	kills := 5
	if n, err := strconv.Atoi(os.Getenv("VFS_KILLS")); err == nil {
		kills = n
	}
	vfsctl, work := binary(t), t.TempDir()
	db, dir := filepath.Join(work, "agent.db"), filepath.Join(work, "mnt")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, exec.Command(vfsctl, "--db", db, "init").Run())
	random := rand.New(rand.NewPCG(1, 2))

	for kill := range kills {
		cmd := mounted(t, vfsctl, db, "main", dir, "--live")
		var synced atomic.Int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := int64(1); writeSynced(dir, kill, i) == nil; i++ {
				synced.Store(i)
			}
		}()
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		<-done

		out, err := exec.Command(vfsctl, "--db", db, "check").CombinedOutput()
		require.NoError(t, err, "%s", out)
		if n := synced.Load(); n > 0 {
			text, err := exec.Command(vfsctl, "--db", db, "cat", fmt.Sprintf("run-%d/file-%d", kill, n%8)).Output()
			require.NoError(t, err)
			var got int64
			_, err = fmt.Fscan(bytes.NewReader(text), &got)
			require.NoError(t, err)
			require.GreaterOrEqual(t, got, n)
		}
	}
	cmd := mounted(t, vfsctl, db, "main", dir, "--live")
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.LessOrEqual(t, len(list), kills)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Wait())
}

// writeSynced writes a file anew, as an editor does, and syncs it. Others come and go without a sync.
func writeSynced(dir string, kill int, i int64) error {
	dir = filepath.Join(dir, fmt.Sprint("run-", kill))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "new"))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, i); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, fmt.Sprint("file-", i%8))); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("other-", i%5)), make([]byte, 10_000), 0o600); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(dir, fmt.Sprint("other-", (i+2)%5)))
	return f.Sync()
}

// A live mount that misses events, since it stood still while the log was trimmed, shows nothing that is stale: names that
// went, names that came, and the contents.
func TestMountMissesEvents(t *testing.T) {
	ctx := t.Context()
	vfsctl, work := binary(t), t.TempDir()
	db, dir := filepath.Join(work, "agent.db"), filepath.Join(work, "mnt")
	require.NoError(t, os.Mkdir(dir, 0o755))
	fsys, err := vfs.Open(ctx, db, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fsys.Close()) })
	for _, name := range []string{"changed", "gone", "moved", "d/changed", "d/gone", "d/e/gone", "d/e/open"} {
		require.NoError(t, fsys.WriteFile(ctx, name, []byte("old "+name), 0o644, vfs.Parents()))
	}
	cmd := mounted(t, vfsctl, db, "main", dir, "--live")

	// The kernel caches what is there, what is not, and a name that it has changed itself.
	require.NoError(t, os.Rename(filepath.Join(dir, "gone"), filepath.Join(dir, "renamed")))
	require.NoError(t, os.Link(filepath.Join(dir, "moved"), filepath.Join(dir, "d/linked")))
	names := []string{"changed", "renamed", "moved", "d/linked", "d/changed", "d/gone", "d/e/gone", "d/e/open", "new", "d/new", "d/e/new", "d/moved"}
	shown := func() map[string]string {
		shown := make(map[string]string)
		for _, name := range names {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				shown[name] = string(text)
			} else if !os.IsNotExist(err) {
				shown[name] = err.Error()
			}
		}
		return shown
	}
	require.Len(t, shown(), 8)
	open, err := os.OpenFile(filepath.Join(dir, "d/e/open"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer open.Close()
	require.NoError(t, open.Sync())

	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		return err == nil && bytes.Contains(stat, []byte(") T "))
	}, time.Minute, time.Millisecond)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		var errs []error
		for _, name := range []string{"changed", "d/changed", "new", "d/new", "d/e/new"} {
			errs = append(errs, tx.WriteFile(name, []byte("new "+name), 0o644))
		}
		for _, name := range []string{"renamed", "d/gone", "d/e/gone", "d/linked"} {
			errs = append(errs, tx.Remove(name))
		}
		return errors.Join(append(errs, tx.Rename("moved", "d/moved"), tx.Rename("d/e/open", "d/e/new"))...)
	}))
	vfstest.Trim(t, fsys, 1)
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))

	want := map[string]string{
		"changed": "new changed", "d/changed": "new d/changed", "new": "new new", "d/new": "new d/new",
		"d/moved": "old moved", "d/e/new": "old d/e/open",
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Equal(c, want, shown()) }, time.Minute, 10*time.Millisecond)
	text := make([]byte, 3)
	_, err = open.ReadAt(text, 0)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
	require.NoError(t, open.Close())
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Wait())
}

// A mount of all trees follows what another process writes.
func TestMountAll(t *testing.T) {
	vfsctl, work := binary(t), t.TempDir()
	db, dir := filepath.Join(work, "agent.db"), filepath.Join(work, "mnt")
	require.NoError(t, os.Mkdir(dir, 0o755))
	call := func(args ...string) {
		t.Helper()
		out, err := exec.Command(vfsctl, append([]string{"--db", db}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	call("init")
	call("mkdir", "kept")
	call("snapshot", "create", "before")
	cmd := mounted(t, vfsctl, db, "--all", dir)

	shows := func(name string, want bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return (err == nil) == want && (want || os.IsNotExist(err))
		}, time.Minute, 10*time.Millisecond, name)
	}
	shows("branches/main/kept", true)
	shows("branches/main/new", false)
	shows("branches/try", false)
	call("mkdir", "new")
	shows("branches/main/new", true)
	call("branch", "create", "try")
	shows("branches/try/new", true)
	shows("snapshots/before/kept", true)
	shows("snapshots/before/new", false)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, cmd.Wait())
}

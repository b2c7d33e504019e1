package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
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

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mounted starts a mount, and returns once the directory can be read.
func mounted(t *testing.T, vfsctl, db, ref, dir string) *exec.Cmd {
	t.Helper()
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skipf("FUSE is not allowed here: %v", err)
	} else {
		f.Close()
	}
	if _, err := exec.LookPath("fusermount3"); err != nil && os.Geteuid() != 0 {
		t.Skipf("only root may mount here: %v", err)
	}
	cmd := exec.Command(vfsctl, "--db", db, "--json", "mount", ref, dir)
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
	require.JSONEq(t, `{"mounted": "`+ref+`", "on": "`+dir+`"}`, line)
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
	}, 10*time.Second, 10*time.Millisecond)
	_, err = f.Readdirnames(-1)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, cmd.Wait())
}

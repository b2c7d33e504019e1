package run_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
)

// openTerminal returns both ends of a new terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = slave.Close() })
	return master, slave
}

// The terminal is the command's: its size, its input, and the interrupt, which ends neither the run nor what it brings back.
func TestOverlayTerminal(t *testing.T) {
	fsys := vfstest.New(t)
	overlay(t, t.Context(), fsys, run.Options{}, "true") // skips where there is none
	master, slave := openTerminal(t)
	require.NoError(t, unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 33, Col: 77}))
	cmd := runner(t, run.Overlay, fsys.Store().Path(), t.TempDir(), "/bin/sh", "-c", `
		trap 'echo got it > got; echo interrupted; exit 7' INT
		test -t 0 && test -t 1 && stty size
		read line; echo "line $line"
		echo waiting; while :; do sleep 0.01; done`)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	defer time.AfterFunc(long, func() { _ = cmd.Process.Kill() }).Stop()
	require.NoError(t, slave.Close())

	var seen strings.Builder
	answers := map[string]string{"33 77": "hello\n", "waiting": "\x03"}
	lines := bufio.NewScanner(master)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		seen.WriteString(line + "\n")
		if answer := answers[line]; answer != "" {
			_, err := master.WriteString(answer)
			require.NoError(t, err)
		}
	}
	_ = cmd.Wait()
	require.Equal(t, 7, cmd.ProcessState.ExitCode(), seen.String())
	require.Contains(t, seen.String(), "line hello\n")
	require.Contains(t, seen.String(), "interrupted\n")
	require.Equal(t, "got it\n", text(t, fsys, "got"))
}

// A shell inside has job control: it stops a job and goes on with it, in a terminal that is the run's.
func TestOverlayJobControl(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip(err)
	}
	fsys := vfstest.New(t)
	overlay(t, t.Context(), fsys, run.Options{}, "true") // skips where there is none
	master, slave := openTerminal(t)
	cmd := runner(t, run.Overlay, fsys.Store().Path(), t.TempDir(), "/bin/bash", "--norc", "--noprofile", "-i")
	cmd.Env = append(cmd.Env, "PS1=", "TERM=dumb")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	defer time.AfterFunc(long, func() { _ = cmd.Process.Kill() }).Stop()
	require.NoError(t, slave.Close())

	_, err := master.WriteString("set -m; sh -c 'echo sta\"\"rted; while ! test -e go; do sleep 0.01; done; echo end\"\"ed'; touch go; echo stop\"\"ped; fg; exit 5\n")
	require.NoError(t, err)
	var seen strings.Builder
	lines := bufio.NewScanner(master)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		seen.WriteString(line + "\n")
		if line == "started" {
			_, err := master.WriteString("\x1a")
			require.NoError(t, err)
		}
	}
	_ = cmd.Wait()
	require.Equal(t, 5, cmd.ProcessState.ExitCode(), seen.String())
	require.Contains(t, seen.String(), "stopped\n")
	require.Contains(t, seen.String(), "ended\n")
}

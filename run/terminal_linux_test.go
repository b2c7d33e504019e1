package run_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// A terminal is a program that leads a session of a terminal of its own.
type terminal struct {
	cmd    *exec.Cmd
	master *os.File
	seen   strings.Builder // the lines that it has shown
}

// startInTerminal starts a program in a terminal of 33 rows and 77 columns.
func startInTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, slave := openTerminal(t)
	require.NoError(t, unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 33, Col: 77}))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(long, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { timer.Stop() })
	require.NoError(t, slave.Close())
	return &terminal{cmd: cmd, master: master}
}

// talk reads lines until the program ends, and answers each that has an answer.
func (tt *terminal) talk(t *testing.T, answers map[string]func()) {
	t.Helper()
	lines := bufio.NewScanner(tt.master)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		tt.seen.WriteString(line + "\n")
		if answer := answers[line]; answer != nil {
			answer()
		}
	}
	_ = tt.cmd.Wait()
}

// types returns the function that types a text.
func (tt *terminal) types(t *testing.T, text string) func() {
	return func() {
		_, err := tt.master.WriteString(text)
		require.NoError(t, err)
	}
}

// eachWay runs a test of a terminal for each way that this host allows.
func eachWay(t *testing.T, test func(*testing.T, run.Via, *vfs.FS)) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip(err)
	}
	for _, via := range []run.Via{run.Overlay, run.Copy, run.Live} {
		t.Run(string(via), func(t *testing.T) {
			fsys := vfstest.New(t)
			able(t, shell(t, t.Context(), fsys, run.Options{Via: via}, "true").Run())
			test(t, via, fsys)
		})
	}
}

// The terminal is the command's: its size, its input, and the interrupt, which ends neither the run nor what it brings back.
func TestTerminal(t *testing.T) {
	eachWay(t, func(t *testing.T, via run.Via, fsys *vfs.FS) {
		cmd := runner(t, via, fsys.Store().Path(), t.TempDir(), "/bin/sh", "-c", `
			trap 'echo got it > got; echo interrupted; exit 7' INT
			trap 'stty size' WINCH
			test -t 0 && test -t 1 && stty size
			read line; echo "line $line"
			echo waiting; while :; do sleep 0.01; done`)
		term := startInTerminal(t, cmd)
		term.talk(t, map[string]func(){
			"33 77": term.types(t, "hello\n"),
			"waiting": func() {
				require.NoError(t, unix.IoctlSetWinsize(int(term.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 44, Col: 111}))
			},
			"44 111": term.types(t, "\x03"),
		})
		require.Equal(t, 7, cmd.ProcessState.ExitCode(), term.seen.String())
		require.Contains(t, term.seen.String(), "line hello\n")
		require.Contains(t, term.seen.String(), "interrupted\n")
		require.Equal(t, "got it\n", text(t, fsys, "got"))
	})
}

// A shell inside has job control: it stops a job and goes on with it, in a terminal that is the run's. The job starts no
// program: a ^Z between vfork and exec would stop the child, and leave the shell that waits for it running.
func TestJobControlInside(t *testing.T) {
	eachWay(t, func(t *testing.T, via run.Via, fsys *vfs.FS) {
		cmd := runner(t, via, fsys.Store().Path(), t.TempDir(), "/bin/bash", "--norc", "--noprofile", "-i")
		cmd.Env = append(cmd.Env, "PS1=", "TERM=dumb")
		term := startInTerminal(t, cmd)
		term.types(t, "set -m; sh -c 'echo sta\"\"rted; while ! test -e go; do :; done; echo end\"\"ed'; touch go; echo stop\"\"ped; fg; exit 5\n")()
		term.talk(t, map[string]func(){"started": term.types(t, "\x1a")})
		require.Equal(t, 5, cmd.ProcessState.ExitCode(), term.seen.String())
		require.Contains(t, term.seen.String(), "stopped\n")
		require.Contains(t, term.seen.String(), "ended\n")
	})
}

// A shell outside has job control over the run: it stops it with the command, and one that was started in the background waits
// for its input until it is in the foreground.
func TestJobControlOutside(t *testing.T) {
	eachWay(t, func(t *testing.T, via run.Via, fsys *vfs.FS) {
		self, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), "/bin/bash", "--norc", "--noprofile", "-i")
		cmd.Env = append(runner(t, via, fsys.Store().Path(), t.TempDir()).Env, "PS1=", "TERM=dumb", "SELF="+self)
		term := startInTerminal(t, cmd)
		term.types(t, `"$SELF" /bin/sh -c 'echo beg""un; read x; echo "got $x"; echo sta""rted; read x; echo "got $x"; echo $x > last; exit 3' &`+"\n")()
		term.talk(t, map[string]func(){
			"begun":       term.types(t, "until jobs | grep -q Stopped; do sleep 0.01; done; echo stop\"\"ped; fg; echo stop\"\"ped two; fg; exit $?\n"),
			"stopped":     term.types(t, "one\n"),
			"started":     term.types(t, "\x1a"),
			"stopped two": term.types(t, "two\n"),
		})
		require.Equal(t, 3, cmd.ProcessState.ExitCode(), term.seen.String())
		require.Contains(t, term.seen.String(), "got two\n")
		require.Equal(t, "two\n", text(t, fsys, "last"))
	})
}

// After a shell with job control the terminal belongs to the group of the run again, though nobody outside has job control.
func TestTerminalComesBack(t *testing.T) {
	eachWay(t, func(t *testing.T, via run.Via, fsys *vfs.FS) {
		self, err := os.Executable()
		require.NoError(t, err)
		for _, end := range []string{"exit 4", "kill -9 $$"} {
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `"$SELF" /bin/bash --norc --noprofile -i; echo "ended"; read x; echo "got $x"`)
			cmd.Env = append(runner(t, via, fsys.Store().Path(), t.TempDir()).Env, "PS1=", "TERM=dumb", "SELF="+self)
			term := startInTerminal(t, cmd)
			term.types(t, end+"\n")()
			term.talk(t, map[string]func(){"ended": term.types(t, "after\n")})
			require.Contains(t, term.seen.String(), "got after\n", end)
		}
	})
}

// A timeout ends the command alone if it shares the process group of the caller: another process of the group goes on.
func TestTimeoutInTerminal(t *testing.T) {
	eachWay(t, func(t *testing.T, via run.Via, fsys *vfs.FS) {
		self, err := os.Executable()
		require.NoError(t, err)
		signs := t.TempDir()
		sign := func(name string) string { return filepath.Join(signs, name) }
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `
			sh -c 'trap "" HUP; : > "$1/ready"; until test -e "$1/end"; do sleep 0.01; done; : > "$1/ended"' sh "$1" </dev/null >/dev/null 2>&1 &
			until test -e "$1/ready"; do sleep 0.01; done
			exec "$SELF" /bin/sh -c 'exec sleep 600'`, "sh", signs)
		cmd.Env = append(runner(t, via, fsys.Store().Path(), t.TempDir()).Env, "SELF="+self, runnerTimeoutEnv+"=1ms")
		term := startInTerminal(t, cmd)
		term.talk(t, nil)
		require.Equal(t, 124, cmd.ProcessState.ExitCode(), term.seen.String())
		require.NoFileExists(t, sign("ended"))

		require.NoError(t, os.WriteFile(sign("end"), nil, 0o600))
		require.Eventually(t, func() bool { _, err := os.Stat(sign("ended")); return err == nil }, long, tick)
	})
}

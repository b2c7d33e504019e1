package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/vfs"
)

// A screen is a terminal with a program in it.
type screen struct {
	t      *testing.T
	cmd    *exec.Cmd
	keys   *os.File // the side of the user
	mu     sync.Mutex
	more   *sync.Cond
	output string // that was not looked at yet
	closed bool
}

// openScreen starts a program in a terminal.
func openScreen(t *testing.T, cmd *exec.Cmd) *screen {
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}))
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	defer program.Close()

	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	s := &screen{t: t, cmd: cmd, keys: user}
	s.more = sync.NewCond(&s.mu)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = user.Close()
	})
	go func() {
		part := make([]byte, 4096)
		for {
			n, err := user.Read(part)
			s.mu.Lock()
			s.output += string(part[:n])
			s.closed = err != nil
			s.more.Broadcast()
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

// press sends keys.
func (s *screen) press(keys string) {
	_, err := s.keys.WriteString(keys)
	require.NoError(s.t, err)
}

// sees waits for an output, and forgets all before its end.
func (s *screen) sees(pattern string) {
	s.t.Helper()
	late := false
	timer := time.AfterFunc(time.Minute, func() {
		s.mu.Lock()
		late = true
		s.more.Broadcast()
		s.mu.Unlock()
	})
	defer timer.Stop()

	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if at := regexp.MustCompile(pattern).FindStringIndex(s.output); at != nil {
			s.output = s.output[at[1]:]
			return
		}
		if late || s.closed {
			require.Failf(s.t, "not shown", "%s is not in %q", pattern, s.output)
		}
		s.more.Wait()
	}
}

// At a terminal, lines are edited, completed and remembered, and an interrupt ends a command and not the shell.
func TestShellAtTerminal(t *testing.T) {
	dir := t.TempDir()
	program, db := binary(t), filepath.Join(dir, "agent.db")
	fsys, err := vfs.Open(t.Context(), db, nil)
	require.NoError(t, err)
	defer fsys.Close()
	for name, text := range map[string]string{"docs/a.md": "alpha\n", "docs/b c.md": "beta\n", "docs/sub/d.md": "delta\n"} {
		require.NoError(t, fsys.WriteFile(t.Context(), name, []byte(text), 0o644, vfs.Parents()))
	}
	start := func() *screen {
		cmd := exec.Command(program, "--db", db, "shell")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "TERM=xterm", "PAGER=cat", "VFS_BRANCH=", "VFS_DB=")
		return openScreen(t, cmd)
	}
	const prompt = `main:/docs> $`

	s := start()
	s.sees(`main:/> $`)
	s.press("cd do\t")
	s.sees(`docs/`)
	s.press("\r")
	s.sees(prompt)
	s.press("cat a\t\r")
	s.sees("\r\nalpha\r\n")
	s.sees(prompt)
	s.press("cat b\t\r") // a space in a name
	s.sees("\r\nbeta\r\n")
	s.sees(prompt)
	s.press("snapshot cre\tone\r") // a command below another
	s.sees("\r\none\r\n")
	s.sees(prompt)
	s.press("diff --st\ton\t\r") // a flag, and a snapshot
	s.sees("diff --stat one")
	s.sees(prompt)

	// An arrow brings a line back, Ctrl-R finds one, Ctrl-A goes to its beginning.
	s.press("\x1b[A\x1b[A\r")
	s.sees("\r\nvfsctl: snapshot one: file exists")
	s.sees(prompt)
	s.press("\x12at a")
	s.sees("reverse-i-search.*cat a.md")
	s.press("\r")
	s.sees("\r\nalpha\r\n")
	s.sees(prompt)
	s.press("at a.md\x01c\r")
	s.sees("\r\nalpha\r\n")
	s.sees(prompt)

	// A line that is not finished goes on, and Ctrl-C drops one.
	s.press("cat 'a.md' \\\r")
	s.sees(`> $`)
	s.press("'b c.md'\r")
	s.sees("\r\nalpha\r\nbeta\r\n")
	s.sees(prompt)
	s.press("cat 'not finished\r")
	s.sees(`> $`)
	s.press("nonsense")
	s.sees("nonsense") // the editor shows it, so it takes keys, and the terminal sends no signal
	s.press("\x03")
	s.sees(`\^C`)
	s.sees(prompt)

	// Ctrl-C ends a command that waits for the store, and one that reads.
	s.press("watch\r")
	s.sees("watch\r\n")
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if err := fsys.WriteFile(t.Context(), "docs/seen", []byte{byte(i)}, 0o644); err != nil {
				t.Error(err)
				return
			}
		}
	})
	s.sees("docs/seen")
	close(stop)
	writer.Wait()
	s.press("\x03")
	s.sees(prompt)
	s.press("put - typed\r")
	s.sees("typed\r\n")
	s.press("one\rtwo\r\x04")
	s.sees(prompt)
	s.press("put - lost; pwd\r")
	s.sees("pwd\r\n")
	s.press("three\r")
	s.sees("three\r\n")
	s.press("\x03")
	s.sees("vfsctl: interrupted")
	s.sees(prompt)
	s.press("cat typed | tr a-z A-Z; ls lost\r")
	s.sees("\r\nONE\r\nTWO\r\n")
	s.sees("docs/lost: no such file")
	s.sees(prompt)

	// A program of the host has the terminal.
	s.press("!stty -a | tr ' ' '\\n' | grep -x -e -*icanon -e -*echo; read line; echo got $line\r")
	s.sees("\r\nicanon\r\necho\r\n")
	s.press("some words\r")
	s.sees("got some words\r\n")
	s.sees(prompt)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "news"), []byte("it runs\n"), 0o644))
	s.press("!tail -f news\r")
	s.sees("it runs\r\n")
	s.press("\x03")
	s.sees(prompt)

	s.press(" pwd # in secret\r")
	s.sees("\r\n/docs\r\n")
	s.sees(prompt)
	s.press("\x04")
	require.NoError(t, s.cmd.Wait())

	// The next shell remembers the lines, but for the one with a space in front, and the file is the user's alone.
	kept := filepath.Join(dir, "vfsctl", "history")
	info, err := os.Stat(kept)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.NotContains(t, string(text), "secret")
	require.True(t, strings.HasPrefix(string(text), "cd docs/\ncat a.md \ncat 'b c.md' \n"), string(text))
	s = start()
	s.sees(`main:/> $`)
	s.press("\x12tr a-z\r")
	s.sees("cannot|no such file")
	s.sees(`main:/> $`)

	// A signal ends the shell in order, and gives the terminal back.
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	var exit *exec.ExitError
	require.ErrorAs(t, s.cmd.Wait(), &exit)
	require.Equal(t, 130, exit.ExitCode())
	mode, err := unix.IoctlGetTermios(int(s.keys.Fd()), unix.TCGETS)
	require.NoError(t, err)
	require.NotZero(t, mode.Lflag&unix.ECHO)
	require.NotZero(t, mode.Lflag&unix.ICANON)

	code, err := fsys.ReadFile(t.Context(), "docs/typed")
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n", string(code))
}

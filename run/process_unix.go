//go:build unix

package run

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// A group is how signals reach a command.
type group struct {
	own   bool // the command leads a process group of its own
	front bool // it shares that of this process, which was in the foreground of its terminal
}

// newGroup gives a command a process group of its own, unless it shares that of this process.
func newGroup(cmd *exec.Cmd, shared bool) group {
	if shared {
		return group{front: inForeground()}
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	return group{own: true}
}

// sharesGroup reports whether a command stays in the process group of this process, because the job control of a shell needs
// both in one group: its input is the terminal, or it has another file as its input, and this process is in the foreground.
func sharesGroup(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return false
	}
	if _, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP); err == nil { // no other terminal than ours answers
		return true
	}
	return inForeground()
}

// inForeground reports whether this process is in the foreground of its terminal.
func inForeground() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	front, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && front == unix.Getpgrp()
}

// takeTerminal brings the process group that the command shared back into the foreground, if the group that is there has ended: a
// shell with job control that was killed gives nothing back, and one in a namespace of processes cannot name our group.
func (g group) takeTerminal() {
	if !g.front {
		return
	}
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	front, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	if err != nil || front > 0 && !errors.Is(unix.Kill(-front, 0), unix.ESRCH) {
		return
	}

	if !signal.Ignored(syscall.SIGTTOU) { // it stops a process that is in the background
		signal.Ignore(syscall.SIGTTOU)
		defer signal.Reset(syscall.SIGTTOU)
	}
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCSPGRP, unix.Getpgrp())
}

// send sends a signal to the command, and to the others of its group.
func (g group) send(cmd *exec.Cmd, s os.Signal) {
	if !g.own {
		_ = cmd.Process.Signal(s)
		return
	}
	_ = unix.Kill(-cmd.Process.Pid, s.(syscall.Signal))
}

// pass passes on a signal that this process has got. A terminal sends an interrupt to its whole foreground, so the command
// has that already.
func (g group) pass(cmd *exec.Cmd, s os.Signal) {
	if g.own || s != os.Interrupt && s != syscall.SIGQUIT {
		g.send(cmd, s)
	}
}

// endOf returns the exit code of a process, or the signal that ended it.
func endOf(state *os.ProcessState) (code int, by syscall.Signal) {
	if status, _ := state.Sys().(syscall.WaitStatus); status.Signaled() {
		return 0, status.Signal()
	}
	return state.ExitCode(), 0
}

// exit returns how the command ended, as a shell counts.
func (out *outcome) exit() (code int, signal string) {
	code, by := out.code, out.signal
	if out.state != nil {
		code, by = endOf(out.state)
	}
	if by != 0 {
		code, signal = 128+int(by), unix.SignalName(by)
	}
	if out.timedOut {
		code = timeoutCode
	}
	return code, signal
}

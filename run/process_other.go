//go:build !unix

package run

import (
	"io"
	"os"
	"os/exec"
)

// A group is how signals reach a command.
type group struct{}

func newGroup(*exec.Cmd, bool) group { return group{} }

// sharesGroup reports false: a console has no job control.
func sharesGroup(io.Reader) bool { return false }

// takeTerminal does nothing: a console has no foreground.
func (group) takeTerminal() {}

// send ends the command. There are no other signals here.
func (group) send(cmd *exec.Cmd, _ os.Signal) { _ = cmd.Process.Kill() }

// pass does nothing: a console sends an interrupt to all its processes.
func (group) pass(*exec.Cmd, os.Signal) {}

// exit returns how the command ended.
func (out *outcome) exit() (code int, signal string) {
	if out.timedOut {
		return timeoutCode, ""
	}
	return out.state.ExitCode(), ""
}

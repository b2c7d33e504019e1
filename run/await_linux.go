package run

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// await waits until the command has ended, and then kills what is left of its group. The command is reaped later, so its
// number is not given to another group before.
func (g group) await(cmd *exec.Cmd) {
	if !g.own {
		return
	}
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
}

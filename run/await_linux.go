package run

import (
	"os/exec"
	"syscall"

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

// dieWithParent makes the kernel kill a process when this one is killed: nobody could bring its result back.
func dieWithParent(cmd *exec.Cmd) {
	if cmd.Process != nil { // it runs already
		return
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

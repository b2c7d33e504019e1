package run

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// innerStep is the name of the step that is the first process of a run's namespaces.
const innerStep = "overlay"

// innerInput is what the inner process mounts.
type innerInput struct {
	Dir         string // of the upper layer, see newOverlayDir
	Tree        string // where the command finds the tree
	Base        string // the lower layer, if it is not a frozen moment
	User        bool   // without privileges outside
	Forward     bool   // signals reach this process alone
	NetworkNone bool
}

// innerCommand is the command that the inner process starts.
type innerCommand struct {
	Name string
	Args []string
	Dir  string
	Env  []string

	Confine  bool
	Writable []string
}

// An innerReport is what the inner process answers: once when it has started the command, or could not, once when that has
// ended, and once when it has ended the mount of the moment.
type innerReport struct {
	Failed *stepError
	Status syscall.WaitStatus // of the command
	Ended  bool               // the mount of the moment has ended
}

// runInner is the step. It mounts, starts the command, and is the parent of all processes that lose theirs. When the command
// has ended it ends the others.
func runInner(input []byte, report *os.File) (int, error) {
	var in innerInput
	if err := gob.NewDecoder(bytes.NewReader(input)).Decode(&in); err != nil {
		return 0, err
	}
	outer := os.NewFile(stepFiles, "outer")
	syscall.CloseOnExec(stepFiles)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals) // else they would end this process, and the command with it
	if err := in.mount(outer); err != nil {
		return 0, err
	}
	if err := report.Close(); err != nil {
		return 0, err
	}

	var c innerCommand
	from, to := gob.NewDecoder(outer), gob.NewEncoder(outer)
	if err := from.Decode(&c); err != nil {
		return 1, nil // the process outside is gone, or has given up
	}
	pid, err := c.start(in.User)
	if err != nil {
		failed := newStepError(err)
		return 1, to.Encode(innerReport{Failed: &failed})
	}
	if err := to.Encode(innerReport{}); err != nil {
		return 1, nil
	}

	go func() { // when the process outside is gone there is nobody to bring the result to
		_, _ = io.Copy(io.Discard, outer)
		os.Exit(1)
	}()
	if in.Forward {
		go forward(signals, pid)
	}
	status := reap(pid)
	endOthers()
	_ = to.Encode(innerReport{Status: status})
	_ = to.Encode(innerReport{Ended: in.endMoment() == nil})
	return status.ExitStatus() & 0xff, nil
}

// start starts the command. A user's command loses the rights that this process has inside.
func (c *innerCommand) start(user bool) (pid int, err error) {
	path, err := findProgram(c.Name, c.Dir, c.Env)
	if err != nil {
		return 0, err
	}
	if user {
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			return 0, err
		}
	}
	if c.Confine { // this process needs nothing any more that the command may not do
		if err := restrict(Overlay, c.Writable); err != nil {
			return 0, err
		}
	}
	pid, err = syscall.ForkExec(path, append([]string{c.Name}, c.Args...), &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: []uintptr{0, 1, 2}})
	return pid, started(c.Name, err)
}

// forward passes signals on to the command. A terminal sends its own to the command too.
func forward(signals <-chan os.Signal, pid int) {
	not := []os.Signal{
		syscall.SIGCHLD, syscall.SIGURG, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
		syscall.SIGCONT, syscall.SIGWINCH, syscall.SIGPIPE,
	}
	for s := range signals {
		if !slices.Contains(not, s) {
			_ = syscall.Kill(pid, s.(syscall.Signal))
		}
	}
}

// reap waits for the end of the command, and of processes that have lost their parents meanwhile.
func reap(pid int) (status syscall.WaitStatus) {
	for {
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		if ended == pid || err != nil && err != syscall.EINTR {
			return status
		}
	}
}

// endTime is how long the processes that a command leaves behind have to end after SIGTERM.
const endTime = 2 * time.Second

// endOthers ends all processes of the namespace but this one, and waits for their end.
func endOthers() {
	if syscall.Kill(-1, syscall.SIGTERM) == syscall.ESRCH {
		return
	}
	timer := time.AfterFunc(endTime, func() { _ = syscall.Kill(-1, syscall.SIGKILL) })
	defer timer.Stop()
	for {
		_, err := syscall.Wait4(-1, nil, 0, nil)
		if err == syscall.ECHILD {
			return
		}
	}
}

// unable turns the error of a mount into an UnableError, unless the error is none of the host.
func unable(why, remedy string, err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err
	}
	return &UnableError{Engine: Overlay, Why: fmt.Sprintf("%s: %v", why, errno), Remedy: remedy, Err: errno}
}

// sendFile sends an open file to the process outside.
func sendFile(outer, f *os.File) error {
	return unix.Sendmsg(int(outer.Fd()), []byte{0}, unix.UnixRights(int(f.Fd())), nil, 0)
}

// lowerPath is where the lower layer is mounted.
func (in *innerInput) lowerPath() string { return filepath.Join(in.Dir, lowerName) }

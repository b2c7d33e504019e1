package run

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// guardStep is the name of the step that puts a command under rules, and then becomes the command.
const guardStep = "guard"

// guardInput is what a guard sets up, and the command that it becomes.
type guardInput struct {
	Via      Via
	Dir      string
	Args     []string
	Env      []string
	Confine  bool
	Writable []string
	Network  bool // the process has a network of its own, whose loopback is down
}

// guard returns the process and the function that start a command under the rules of the options, with the tree in the
// directory root. Without rules that is the command itself.
func (t *task) guard(via Via, cmd *exec.Cmd, root string) (*exec.Cmd, func() error, error) {
	if !t.o.Confine && !t.o.NetworkNone {
		return unguarded(cmd)
	}
	return t.guardAlways(via, cmd, root)
}

// guardAlways is guard, and always starts the command through a process of its own. That process looks for the program too. This
// one does not even ask whether the program exists: if the tree is a live mount, a process that is killed while it waits for its
// own answer stays forever.
func (t *task) guardAlways(via Via, cmd *exec.Cmd, root string) (*exec.Cmd, func() error, error) {
	in := guardInput{Dir: cmd.Dir, Via: via, Args: cmd.Args, Env: cmd.Env, Confine: t.o.Confine, Network: t.o.NetworkNone}
	var err error
	if in.Writable, err = t.writable(root); err != nil {
		return nil, nil, err
	}
	step, start, err := newStep(guardStep, in, cmd.Env)
	if err != nil {
		return nil, nil, err
	}
	step.Dir, step.Stdin, step.Stdout, step.Stderr, step.ExtraFiles = "/", cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles
	if !t.o.NetworkNone {
		return step, start, nil
	}

	step.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		step.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		step.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		step.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		step.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	}
	return step, func() error {
		err := start()
		if errno := errnoOf(err); errno != nil && step.Process == nil { // the namespaces were refused
			err = noNetwork(via, errno)
		}
		return err
	}, nil
}

// noNetwork is the error of a host that gives a command no network of its own.
func noNetwork(via Via, err error) error {
	return &UnableError{
		Engine: via, Why: fmt.Sprintf("the host allows no network namespace: %v", err),
		Remedy: "root may make one; for users the host needs user namespaces", Err: errnoOf(err),
	}
}

// runGuard is the step.
func runGuard(input []byte, _ *os.File) (int, error) {
	var in guardInput
	if err := gob.NewDecoder(bytes.NewReader(input)).Decode(&in); err != nil {
		return 0, err
	}
	path, err := findProgram(in.Args[0], in.Dir, in.Env)
	if err != nil {
		return 0, err
	}

	runtime.LockOSThread() // the rights that follow are those of a thread, and it becomes the command
	if in.Network {
		if err := loopbackUp(); err != nil {
			return 0, noNetwork(in.Via, err)
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			return 0, err
		}
	}
	if in.Confine {
		if err := restrict(in.Via, in.Writable); err != nil {
			return 0, err
		}
	}

	if err := os.Chdir(in.Dir); err != nil {
		return 0, err
	}
	return 0, started(in.Args[0], syscall.Exec(path, in.Args, in.Env))
}

// errnoOf returns the errno in an error, or nil.
func errnoOf(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return nil
}

package run

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// grace is the time that a command has to end after SIGTERM.
const grace = 10 * time.Second

// command returns the command of the task with the tree in the directory root, without the path of its program: see
// [task.guard].
func (t *task) command(root string) (*exec.Cmd, error) {
	dir := filepath.Join(root, filepath.FromSlash(t.o.Dir))
	env, err := t.environ(dir)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Args: append([]string{t.name}, t.args...), Dir: dir, Env: env, Stdin: t.stdin, Stdout: t.stdout, Stderr: t.stderr}, nil
}

// supervise starts a process with start, passes signals on to it, ends it after its time, and waits for its end. The
// process is the command, or one of ours that has started the command in its own process group and ends as the command
// does. Processes that the command leaves in its group are killed, unless that is the group of this process.
//
// await waits for the end of the command, which may come before that of the process. If it is nil, both are one.
func (t *task) supervise(ctx context.Context, cmd *exec.Cmd, start, await func() error) (*outcome, error) {
	g := newGroup(cmd, t.shared)
	if await == nil {
		await = func() error {
			g.await(cmd)
			return cmd.Wait()
		}
	}
	cmd.WaitDelay = grace // for pipes that a process outside the group keeps open

	// The kernel ends the process with the thread that has started it, see dieWithParent. So that thread stays.
	dieWithParent(cmd)
	begun, over := make(chan error, 1), make(chan struct{})
	defer close(over)
	go func() {
		runtime.LockOSThread()
		begun <- start()
		<-over
	}()
	if err := <-begun; err != nil {
		return nil, err
	}

	var expired <-chan time.Time
	if t.o.Timeout > 0 {
		timer := time.NewTimer(t.o.Timeout)
		defer timer.Stop()
		expired = timer.C
	}
	ended := make(chan error, 1)
	go func() { ended <- await() }()

	out, done, signals := &outcome{}, ctx.Done(), t.o.Signals
	var kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			g.takeTerminal()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
				return nil, err
			}
			out.state = cmd.ProcessState
			return out, nil
		case s, ok := <-signals:
			if !ok {
				signals = nil
				continue
			}
			g.pass(cmd, s)
		case <-expired:
			out.timedOut, expired, done = true, nil, nil
			g.send(cmd, syscall.SIGTERM)
			kill = time.After(grace)
		case <-done:
			expired, done = nil, nil
			g.send(cmd, syscall.SIGTERM)
			kill = time.After(grace)
		case <-kill:
			g.send(cmd, os.Kill)
		}
	}
}

// started turns the error of a process that could not be started into a [StartError], unless it is an [UnableError].
func started(name string, err error) error {
	if err == nil || errors.As(err, new(*UnableError)) || errors.As(err, new(*StartError)) {
		return err
	}
	return &StartError{name, cause(err)}
}

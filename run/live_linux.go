package run

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"vfsdb/mount"
	"vfsdb/vfs"
)

// liveEngine mounts the branch itself.
type liveEngine struct{}

func (liveEngine) via() Via { return Live }

func (liveEngine) open(ctx context.Context, t *task) (session, error) {
	switch {
	case t.o.Base != "":
		return nil, fmt.Errorf("%w: only overlay runs over a directory of the host", syscall.EINVAL)
	case t.o.ReadOnly:
		return nil, fmt.Errorf("%w: what a command changes in a live mount cannot be dropped", syscall.EINVAL)
	}
	dir, remove, err := scratch(livePrefix)
	if err != nil {
		return nil, err
	}
	m, err := mount.Live(ctx, t.fsys, dir, nil)
	if err == nil {
		return &lived{t: t, dir: dir, mount: m, remove: remove}, nil
	}
	if errors.Is(err, mount.ErrNotAllowed) {
		err = &UnableError{Engine: Live, Why: err.Error(), Remedy: "root: chmod 666 /dev/fuse", Err: errnoOf(err)}
	}
	return nil, errors.Join(err, remove())
}

// lived is a session whose command changes the branch itself. All that it has written is committed when the mount has ended.
type lived struct {
	t      *task
	dir    string
	mount  *mount.Mount
	remove func() error    // of the directory
	done   <-chan struct{} // of the context of the command
	left   error           // why end did not wait for a program
}

// run runs the command through a guard: a process that serves a mount cannot start one whose directory is in it.
func (s *lived) run(ctx context.Context) (*outcome, error) {
	s.done = ctx.Done()
	cmd, err := s.t.command(s.dir)
	if err != nil {
		return nil, err
	}
	cmd, start, err := s.t.guardAlways(Live, cmd, s.dir)
	if err != nil {
		return nil, err
	}
	return s.t.supervise(ctx, cmd, func() error { return started(s.t.name, start()) }, nil)
}

// bring ends the mount: the branch has everything then.
func (s *lived) bring(context.Context, *vfs.FS, func(*vfs.Tx) error) error { return s.end() }

func (s *lived) kept() string { return "" }

// end unmounts the directory. While a program that the command has left is in it, end waits, until the context of the command
// ends or a signal comes: that is EBUSY, and then the mount goes on as long as this process. The error of the last commit is
// returned by each call.
func (s *lived) end() error {
	err := s.mount.Unmount()
	if !errors.Is(err, syscall.EBUSY) {
		return err
	}
	if err := s.mount.Detach(); err != nil {
		return err
	}
	if s.t.o.Left != nil {
		s.t.o.Left()
	}

	if s.await() {
		return s.mount.Unmount()
	}
	s.left = fmt.Errorf("a program that the command has left uses the branch: %w", syscall.EBUSY)
	return s.left
}

// await waits for the end of the mount. It returns false if something else ends the wait.
func (s *lived) await() bool {
	signals := s.t.o.Signals
	for {
		select {
		case <-s.mount.Done():
			return true
		case <-s.done:
			return false
		case _, ok := <-signals:
			if ok {
				return false
			}
			signals = nil
		}
	}
}

// close removes the directory, unless the mount goes on: then the next run does. An error of the last commit is that of bring.
func (s *lived) close() error {
	if s.left != nil {
		return nil
	}
	err := s.end()
	select {
	case <-s.mount.Done():
		return s.remove()
	default:
		return err
	}
}

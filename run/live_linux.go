package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	top, err := os.MkdirTemp("", "vfsdb-live-")
	if err != nil {
		return nil, err
	}
	s := &lived{t: t, dir: filepath.Join(top, "tree")}
	if err = os.Mkdir(s.dir, 0o700); err == nil {
		s.mount, err = mount.Live(ctx, t.fsys, s.dir, nil)
	}
	if err == nil {
		return s, nil
	}
	if errors.Is(err, mount.ErrNotAllowed) {
		err = &UnableError{Engine: Live, Why: err.Error(), Remedy: "root: chmod 666 /dev/fuse", Err: errnoOf(err)}
	}
	return nil, errors.Join(err, os.RemoveAll(top))
}

// lived is a session whose command changes the branch itself. All that it has written is committed when the mount has ended.
type lived struct {
	t     *task
	dir   string
	mount *mount.Mount // nil when it has ended
}

// run runs the command through a guard: a process that serves a mount cannot start one whose directory is in it.
func (s *lived) run(ctx context.Context) (*outcome, error) {
	cmd, err := s.t.command(s.dir)
	if err != nil {
		return nil, err
	}
	cmd, start, err := s.t.guardAlways(Live, cmd, s.dir)
	if err != nil {
		return nil, err
	}
	return s.t.supervise(ctx, cmd, func() error { return started(s.t.name, start()) })
}

// bring ends the mount: the branch has everything then.
func (s *lived) bring(context.Context, *vfs.FS, func(*vfs.Tx) error) error { return s.end() }

func (s *lived) kept() string { return "" }

// end unmounts the directory. A program that the command has left in it loses it.
func (s *lived) end() error {
	if s.mount == nil {
		return nil
	}
	err := s.mount.Unmount()
	if errors.Is(err, syscall.EBUSY) {
		if err = s.mount.Detach(); err == nil {
			<-s.mount.Done()
		}
	}
	if err == nil {
		s.mount = nil
	}
	return err
}

// close removes the directory, which is empty once the mount has ended. Nothing below a mount may be removed.
func (s *lived) close() error {
	if err := s.end(); err != nil {
		return err
	}
	return errors.Join(os.Remove(s.dir), os.Remove(filepath.Dir(s.dir)))
}

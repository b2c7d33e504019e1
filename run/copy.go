package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"vfsdb/transfer"
	"vfsdb/vfs"
)

// copyEngine shows the tree in a directory of the host, and imports the difference. The directory stays for the next run of
// the branch, which brings it up to date, so the cost of a run depends on the differences alone.
type copyEngine struct{}

func (copyEngine) via() Via { return Copy }

func (copyEngine) open(ctx context.Context, t *task) (session, error) {
	if t.o.Base != "" {
		return nil, &UnableError{Engine: Copy, Why: "only overlay runs over a directory of the host"}
	}
	m, err := t.mirror(ctx)
	if err != nil {
		return nil, err
	}

	if _, err := m.Fill(ctx, t.moment); err != nil {
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			err = errors.Join(err, m.Clear()) // a part of the tree is of no use to anyone
		}
		return nil, errors.Join(err, m.Close())
	}
	return &copied{t: t, mirror: m}, nil
}

// maxSlots bounds the directories of a branch, and so its runs at a time by copy.
const maxSlots = 256

// mirror opens the first directory of the branch that no other run uses.
func (t *task) mirror(ctx context.Context) (*transfer.Mirror, error) {
	cache := t.o.Cache
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			user = os.TempDir()
		}
		cache = filepath.Join(user, "vfsdb", "copy")
	}
	id, err := t.fsys.Store().ID(ctx)
	if err != nil {
		return nil, err
	}

	top := filepath.Join(cache, fmt.Sprintf("%.16s-%d", id, t.fsys.Moment().Branch))
	for slot := range maxSlots {
		m, err := transfer.OpenMirror(filepath.Join(top, strconv.Itoa(slot)))
		if !errors.Is(err, syscall.EBUSY) {
			return m, err
		}
	}
	return nil, fmt.Errorf("%w: %d runs of the branch go on by copy", syscall.EBUSY, maxSlots)
}

// copied is a session in a directory of the host. A killed one leaves the branch as it was, and the next Fill repairs the
// directory.
type copied struct {
	t      *task
	mirror *transfer.Mirror
}

func (s *copied) run(ctx context.Context) (*outcome, error) {
	cmd, err := s.t.command(s.mirror.Dir())
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" {
		// A process that outlives a killed run goes on in the directory, so no other run may have that.
		cmd.ExtraFiles = []*os.File{s.mirror.Lock()}
	}
	cmd, start, err := s.t.guard(Copy, cmd, s.mirror.Dir())
	if err != nil {
		return nil, err
	}
	return s.t.supervise(ctx, cmd, func() error { return started(s.t.name, start()) }, nil)
}

func (s *copied) bring(ctx context.Context, to *vfs.FS, check func(*vfs.Tx) error) error {
	_, err := s.mirror.Bring(ctx, to, &transfer.BringOptions{Check: check})
	return err
}

// kept moves the tree out of the way of the next run.
func (s *copied) kept() string {
	dir, err := os.MkdirTemp(filepath.Dir(filepath.Dir(filepath.Dir(s.mirror.Dir()))), "kept-")
	if err != nil {
		return s.mirror.Dir()
	}
	to := filepath.Join(dir, "tree")
	if err := os.Rename(s.mirror.Dir(), to); err != nil {
		_ = os.Remove(dir)
		return s.mirror.Dir()
	}
	return to
}

func (s *copied) close() error { return s.mirror.Close() }

package run

import (
	"context"
	"os"
	"path/filepath"

	"vfsdb/transfer"
	"vfsdb/vfs"
)

// copyEngine exports the tree into a directory of the host, and imports the difference.
type copyEngine struct{}

func (copyEngine) via() Via { return Copy }

func (copyEngine) open(ctx context.Context, t *task) (session, error) {
	if t.o.Base != "" {
		return nil, &UnableError{Engine: Copy, Why: "only overlay runs over a directory of the host"}
	}
	top, err := os.MkdirTemp("", "vfsdb-run-")
	if err != nil {
		return nil, err
	}
	s := &copied{t: t, top: top, dir: filepath.Join(top, "tree")}
	if _, err := transfer.ExportDir(ctx, t.moment, "/", s.dir, &transfer.ExportOptions{Owner: true}); err != nil {
		return nil, err
	}
	return s, nil
}

// copied is a tree in a directory of the host.
type copied struct {
	t    *task
	top  string // removed at the end
	dir  string // the tree, below top
	keep bool
}

func (s *copied) run(ctx context.Context) (*outcome, error) {
	cmd, err := s.t.command(s.dir)
	if err != nil {
		return nil, err
	}
	cmd, start, err := s.t.guard(Copy, cmd, s.dir)
	if err != nil {
		return nil, err
	}
	return s.t.supervise(ctx, cmd, func() error { return started(s.t.name, start()) })
}

func (s *copied) bring(ctx context.Context, to *vfs.FS, check func(*vfs.Tx) error) error {
	_, err := transfer.ImportDir(ctx, to, s.dir, "/", &transfer.ImportOptions{Delete: true, Check: check})
	return err
}

func (s *copied) kept() string {
	s.keep = true
	return s.dir
}

func (s *copied) close() error {
	if s.keep {
		return nil
	}
	return os.RemoveAll(s.top)
}

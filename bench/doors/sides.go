//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"vfsdb/mount"
	"vfsdb/run"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// forget drops what the kernel keeps of a file.
func forget(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

// A side does a work in a fresh tree with the contents of a directory of the host.
type side func(ctx context.Context, b *bench, work, from string) (sheet, error)

// onHost does a work in a copy of the directory.
func onHost(ctx context.Context, b *bench, work, from string) (sheet, error) {
	dir, err := copied(ctx, b, from)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, b.self, "work", work, b.sheet)
	cmd.Dir, cmd.Stderr = filepath.Join(dir, "tree"), os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return b.result()
}

// byRun does a work by run, through the overlay.
func byRun(ctx context.Context, b *bench, work, from string) (s sheet, err error) {
	return b.within(ctx, from, func(fsys *vfs.FS) (sheet, error) {
		cmd := run.Command(ctx, fsys, run.Options{Via: run.Overlay}, b.self, "work", work, b.sheet)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, err
		}
		ended := time.Now()
		s, err := b.result()
		if work == "touch" {
			s["capture of 500 files"] = float64(ended.UnixNano())/1e9 - s["end"]
		}
		return s, err
	})
}

// overHost does a work by run over a copy of the directory: what the kernel's overlayfs costs where it has nobody to ask.
func overHost(ctx context.Context, b *bench, work, from string) (s sheet, err error) {
	dir, err := copied(ctx, b, from)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	fsys, err := vfs.Open(ctx, filepath.Join(dir, "bench.db"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()

	o := run.Options{Via: run.Overlay, Base: filepath.Join(dir, "tree"), ReadOnly: true}
	cmd := run.Command(ctx, fsys, o, b.self, "work", work, b.sheet)
	cmd.Stderr = os.Stderr
	if err := errors.Join(cmd.Run(), cmd.Clean()); err != nil {
		return nil, err
	}
	return b.result()
}

// copied copies a directory to tree in a new one.
func copied(ctx context.Context, b *bench, from string) (dir string, err error) {
	if dir, err = os.MkdirTemp(b.dir, "host-"); err != nil {
		return "", err
	}
	return dir, exec.CommandContext(ctx, "cp", "-a", from, filepath.Join(dir, "tree")).Run()
}

// start measures a run of nothing at all.
func start(ctx context.Context, b *bench, _, from string) (sheet, error) {
	return b.within(ctx, from, func(fsys *vfs.FS) (sheet, error) {
		s := sheet{}
		nothing := func() error { return run.Command(ctx, fsys, run.Options{Via: run.Overlay}, "true").Run() }
		if err := nothing(); err != nil {
			return nil, err
		}
		const n = 10
		return s, s.timed("run -- true", n, func() error {
			for range n {
				if err := nothing(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// onMount does a work on a live mount. The child goes there by itself, since a process must not start another in a
// directory that it serves.
func onMount(ctx context.Context, b *bench, work, from string) (sheet, error) {
	return b.within(ctx, from, func(fsys *vfs.FS) (s sheet, err error) {
		dir, err := os.MkdirTemp(b.dir, "mount-")
		if err != nil {
			return nil, err
		}
		m, err := mount.Live(ctx, fsys, dir, nil)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, m.Unmount(), os.Remove(dir)) }()

		cmd := exec.CommandContext(ctx, "sh", "-c", `cd "$1" && exec "$2" work "$3" "$4"`, "sh", dir, b.self, work, b.sheet)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, err
		}
		return b.result()
	})
}

// within calls fn with a fresh store that has the contents of a directory.
func (b *bench) within(ctx context.Context, from string, fn func(*vfs.FS) (sheet, error)) (s sheet, err error) {
	dir, err := os.MkdirTemp(b.dir, "store-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	fsys, err := vfs.Open(ctx, filepath.Join(dir, "bench.db"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()
	if _, err := transfer.ImportDir(ctx, fsys, from, ".", nil); err != nil {
		return nil, err
	}
	return fn(fsys)
}

// result reads the sheet that a child wrote.
func (b *bench) result() (s sheet, err error) {
	text, err := os.ReadFile(b.sheet)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("the sheet of a child: %w", err)
	}
	return s, os.Remove(b.sheet)
}

package main

import (
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/gc"
	"vfsdb/vfs"
)

// removeAll removes a tree of many small files, once, because the host takes long. Ours changes one row. The files
// below it are collected later; a note has that time.
func removeAll(b *bench) error {
	n := b.size(100_000, 500)
	files := makeFiles(n, 32, 32, 7) // as a forest has them
	return b.withForest(n, func(fsys *vfs.FS) error {
		if err := gather(b, fsys, files); err != nil {
			return err
		}
		root, err := b.hostDir()
		if err != nil {
			return err
		}
		if err := hostFill(root, files); err != nil {
			return err
		}

		times, err := b.race(1,
			side{"ours", func(int) (time.Duration, error) {
				return b.writes(fsys, func() error { return fsys.RemoveAll(b.ctx, "all") })
			}},
			side{"os.RemoveAll", func(int) (time.Duration, error) {
				return b.timed(func() error { return os.RemoveAll(root) })
			}},
		)
		if err != nil {
			return err
		}

		var report *gc.Report
		later, err := b.timed(func() (err error) {
			report, err = gc.Run(b.ctx, fsys, nil)
			return err
		})
		if err != nil {
			return err
		}

		b.add(versus(fmt.Sprintf("RemoveAll of %s files", thousands(n)), times[0], "os.RemoveAll", times[1], 20).
			with("in one round; gc of it takes %s later, in %s steps, the longest of %s", figures.Of(later.Seconds(), "s"),
				thousands(report.Steps), figures.Of(report.LongestStep.Seconds(), "s")))
		return nil
	})
}

// gather moves a forest into one directory.
func gather(b *bench, fsys *vfs.FS, files []file) error {
	return fsys.Update(b.ctx, func(tx *vfs.Tx) error {
		if err := tx.Mkdir("all", 0o755); err != nil {
			return err
		}
		last := ""
		for _, f := range files {
			top, _, _ := strings.Cut(f.name, "/")
			if top == last {
				continue
			}
			if err := tx.Rename(top, path.Join("all", top)); err != nil {
				return err
			}
			last = top
		}
		return nil
	})
}

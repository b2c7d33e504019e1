package main

import (
	"fmt"
	"io/fs"
	"os"
	"time"

	"vfsdb/vfs"
)

// readDirs lists directories of three sizes.
func readDirs(b *bench) error {
	fsys, err := b.openNew("readdir")
	if err != nil {
		return err
	}
	defer fsys.Close()

	for _, c := range []struct{ entries, times int }{
		{100, b.size(500, 2)},
		{b.size(10_000, 500), b.size(5, 1)},
		{b.size(100_000, 1000), 1},
	} {
		dir := fmt.Sprint(c.entries)
		if err := fillDir(b, fsys, dir, c.entries); err != nil {
			return err
		}

		lists := func(name string, list func() ([]fs.DirEntry, error)) side {
			return side{name, func(int) (time.Duration, error) {
				return b.timed(func() error {
					for range c.times {
						if entries, err := list(); err != nil || len(entries) != c.entries {
							return fmt.Errorf("%d entries: %w", len(entries), err)
						}
					}
					return nil
				})
			}}
		}

		ours := lists("ours", func() ([]fs.DirEntry, error) { return fsys.ReadDir(b.ctx, dir) })
		host := lists("os.ReadDir", func() ([]fs.DirEntry, error) { return os.ReadDir(b.path("%s", dir)) })
		for _, s := range []side{ours, host} {
			if _, err := s.run(-1); err != nil { // now they are warm
				return err
			}
		}

		times, err := b.race(b.rounds, ours, host)
		if err != nil {
			return err
		}
		b.add(versus(fmt.Sprintf("readdir of %s", thousands(c.entries)),
			times[0]/time.Duration(c.times), "os.ReadDir", times[1]/time.Duration(c.times), 0))
	}
	return nil
}

// fillDir makes a directory of empty files on both sides.
func fillDir(b *bench, fsys *vfs.FS, dir string, n int) error {
	files := make([]file, n)
	for i := range files {
		files[i] = file{name: fmt.Sprintf("%s/entry-%06d", dir, i)}
	}
	if err := fill(b.ctx, fsys, "", files); err != nil {
		return err
	}
	return hostFill(b.dir, files)
}

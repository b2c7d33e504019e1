package main

import (
	"fmt"
	"os"
	"time"

	"vfsdb/vfs"
)

// createBatch writes many small files in one commit, beside files that nobody fsyncs.
func createBatch(b *bench) error {
	n := b.size(10_000, 300)
	fsys, err := b.openNew("batch")
	if err != nil {
		return err
	}
	defer fsys.Close()
	times, err := b.race(b.rounds,
		side{"ours", func(round int) (time.Duration, error) {
			files, root := makeFiles(n, 1024, 1024, uint64(round)), fmt.Sprintf("%d/", round)
			if err := makeDirs(b.ctx, fsys, root, files); err != nil {
				return 0, err
			}
			return b.timed(func() error { return writeFiles(b.ctx, fsys, root, files) })
		}},
		side{"os.WriteFile", func(round int) (time.Duration, error) {
			files, root := makeFiles(n, 1024, 1024, uint64(round)), b.path("host-%d", round)
			if err := hostDirs(root, files); err != nil {
				return 0, err
			}
			return b.timed(func() error { return hostWrite(root, files) })
		}},
	)
	if err != nil {
		return err
	}
	b.add(versus(fmt.Sprintf("create %s x 1 KiB, one Update", thousands(n)), times[0], "os.WriteFile", times[1], 5).aim(8))
	return nil
}

// createDurable writes small files one by one, each of them safe before the next.
func createDurable(b *bench) error {
	n := b.size(200, 10)
	fsys, err := b.openNew("durable")
	if err != nil {
		return err
	}
	defer fsys.Close()
	ours, host, err := b.durable(fsys, n)
	if err != nil {
		return err
	}
	b.add(versus("create 1 KiB, durable, one by one", ours/time.Duration(n), "create+write+fsync", host/time.Duration(n), 1.9).aim(4))
	return nil
}

// durable races n durable creates with as many on the host.
func (b *bench) durable(fsys *vfs.FS, n int) (ours, host time.Duration, err error) {
	times, err := b.race(b.rounds,
		side{"ours", func(round int) (time.Duration, error) {
			files, root := makeFiles(n, 1024, 1024, uint64(round)), fmt.Sprintf("%d/", round)
			if err := makeDirs(b.ctx, fsys, root, files); err != nil {
				return 0, err
			}
			return b.timed(func() error {
				for _, f := range files {
					if err := fsys.WriteFile(b.ctx, root+f.name, f.data, 0o644); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		side{"fsync", func(round int) (time.Duration, error) {
			files, root := makeFiles(n, 1024, 1024, uint64(round)), b.path("host-%d", round)
			if err := hostDirs(root, files); err != nil {
				return 0, err
			}
			defer os.RemoveAll(root)
			return b.timed(func() error {
				for _, f := range files {
					if err := hostCreateSync(root+"/"+f.name, f.data); err != nil {
						return err
					}
				}
				return nil
			})
		}},
	)
	if err != nil {
		return 0, 0, err
	}
	return times[0], times[1], nil
}

// thousands writes a count for people.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

package main

import (
	"fmt"
	"sync"
	"time"

	"vfsdb/vfs"
)

// writers is how many goroutines write at once.
const writers = 64

// createWriters writes small files from many goroutines, each file durable before its goroutine writes the next, beside
// the same with a commit for each file, and beside the host's file system.
func createWriters(b *bench) error {
	n := b.size(32, 2) // each
	fsys, err := b.openNew("writers")
	if err != nil {
		return err
	}
	defer fsys.Close()

	ours := func(name string, seed int, write func(name string, data []byte) error) side {
		return side{name, func(round int) (time.Duration, error) {
			files, root := makeFiles(n*writers, 1024, 1024, uint64(2*round+seed)), fmt.Sprintf("%s-%d/", name, round)
			if err := makeDirs(b.ctx, fsys, root, files); err != nil {
				return 0, err
			}
			return b.writes(fsys, func() error {
				return atOnce(files, func(f file) error { return write(root+f.name, f.data) })
			})
		}}
	}

	times, err := b.race(b.rounds,
		ours("ours", 0, func(name string, data []byte) error { return fsys.WriteFile(b.ctx, name, data, 0o644) }),
		ours("alone", 1, func(name string, data []byte) error {
			return fsys.Update(b.ctx, func(tx *vfs.Tx) error { return tx.WriteFile(name, data, 0o644) })
		}),
		side{"fsync", func(round int) (time.Duration, error) {
			files := makeFiles(n*writers, 1024, 1024, uint64(round))
			root, err := b.hostPlace(files)
			if err != nil {
				return 0, err
			}
			return b.timed(func() error {
				return atOnce(files, func(f file) error { return hostCreateSync(root+"/"+f.name, f.data) })
			})
		}},
	)
	if err != nil {
		return err
	}

	each := func(t time.Duration) time.Duration { return t / time.Duration(n*writers) }
	what := fmt.Sprintf("%d writers, durable, 1 KiB", writers)
	b.add(versus(what, each(times[0]), "create+write+fsync", each(times[2]), 4).aim(7))
	b.add(versus(what, each(times[0]), "a commit for each", each(times[1]), 8).aim(12).itself())
	return nil
}

// atOnce shares the files among the writers and returns the first error.
func atOnce(files []file, write func(file) error) error {
	errs := make(chan error, writers)
	share := len(files) / writers
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for _, f := range files[w*share : (w+1)*share] {
				if err := write(f); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"vfsdb/vfs"
)

// statDeep looks up files five deep, each at the end of a chain of directories of its own, so that no two paths share
// more than the root. Cold is a store that was just opened, with empty caches; warm is one that has looked up each path
// before. The host always has its entries in memory.
func statDeep(b *bench) error {
	n := b.size(2000, 50)
	files := make([]file, n)
	for i := range files {
		files[i] = file{name: fmt.Sprintf("chain-%04d/b/c/d/file", i)}
	}

	name, root := b.path("stat.db"), b.path("host")
	fsys, err := b.openNew("stat")
	if err != nil {
		return err
	}
	defer fsys.Close()
	if err := fill(b.ctx, fsys, "", files); err != nil {
		return err
	}
	if err := hostFill(root, files); err != nil {
		return err
	}

	// everyFile looks up each file once, in an order of the round. The first one does not count: it prepares
	// statements.
	everyFile := func(round int, stat func(i int) error) (time.Duration, error) {
		order := rand.New(rand.NewPCG(uint64(round), 5)).Perm(n)
		if err := stat(order[0]); err != nil {
			return 0, err
		}
		return b.timed(func() error {
			for _, i := range order[1:] {
				if err := stat(i); err != nil {
					return err
				}
			}
			return nil
		})
	}

	ours := func(fsys *vfs.FS) func(i int) error {
		return func(i int) error {
			_, err := fsys.Lstat(b.ctx, files[i].name)
			return err
		}
	}
	hosts := make([]string, n)
	for i, f := range files {
		hosts[i] = filepath.Join(root, f.name)
	}
	host := func(i int) error {
		_, err := os.Lstat(hosts[i])
		return err
	}

	for _, stat := range []func(int) error{ours(fsys), host} {
		if _, err := everyFile(-1, stat); err != nil { // now they are warm
			return err
		}
	}

	times, err := b.race(b.rounds,
		side{"warm", func(round int) (time.Duration, error) { return everyFile(round, ours(fsys)) }},
		side{"cold", func(round int) (time.Duration, error) {
			fresh, err := vfs.Open(b.ctx, name, nil)
			if err != nil {
				return 0, err
			}
			defer fresh.Close()
			return everyFile(round, ours(fresh))
		}},
		side{"os.Lstat", func(round int) (time.Duration, error) { return everyFile(round, host) }},
	)
	if err != nil {
		return err
	}

	each := func(t time.Duration) time.Duration { return t / time.Duration(n-1) }
	b.add(versus("stat, 5 deep, warm", each(times[0]), "os.Lstat", each(times[2]), 3).aim(9),
		versus("stat, 5 deep, cold", each(times[1]), "os.Lstat", each(times[2]), 0.4).aim(0.6).
			with("each path for the first time since the store was opened; the host's are in memory"))
	return nil
}

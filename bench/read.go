package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// readRandom reads whole files in random order: 12 MiB of them, which a store keeps in memory, and 100 MiB, far more
// than it keeps. Both sides have them in the host's page cache.
func readRandom(b *bench) error {
	kept, err := b.readFiles("read", b.size(500, 50))
	if err != nil {
		return err
	}
	many, err := b.readFiles("read-many", b.size(4000, 100))
	if err != nil {
		return err
	}
	b.add(versus("read 1-50 KiB at random, warm", kept[0], "os.ReadFile", kept[1], 1.3).aim(2.4),
		versus("the same of 100 MiB, more than is kept", many[0], "os.ReadFile", many[1], 0))
	return nil
}

// readFiles returns how long a read of one of n files takes, of ours and of the host's.
func (b *bench) readFiles(name string, n int) ([]time.Duration, error) {
	files := makeFiles(n, 1<<10, 50<<10, 3)
	fsys, err := b.openNew(name)
	if err != nil {
		return nil, err
	}
	defer fsys.Close()
	if err := fill(b.ctx, fsys, "", files); err != nil {
		return nil, err
	}
	root := b.path("host-%s", name)
	if err := hostFill(root, files); err != nil {
		return nil, err
	}

	// everyFile reads each file once, in an order that is the same for both sides of a round.
	everyFile := func(round int, read func(name string) ([]byte, error)) (time.Duration, error) {
		order := rand.New(rand.NewPCG(uint64(round), 2)).Perm(n)
		return b.timed(func() error {
			for _, i := range order {
				data, err := read(files[i].name)
				if err != nil {
					return err
				}
				if len(data) != len(files[i].data) {
					return fmt.Errorf("%s has %d bytes, not %d", files[i].name, len(data), len(files[i].data))
				}
			}
			return nil
		})
	}

	ours := func(name string) ([]byte, error) { return fsys.ReadFile(b.ctx, name) }
	host := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(root, name)) }
	for _, read := range []func(string) ([]byte, error){ours, host} {
		if _, err := everyFile(-1, read); err != nil { // now they are warm
			return nil, err
		}
	}

	times, err := b.race(b.rounds,
		side{"ours", func(round int) (time.Duration, error) { return everyFile(round, ours) }},
		side{"os.ReadFile", func(round int) (time.Duration, error) { return everyFile(round, host) }},
	)
	if err != nil {
		return nil, err
	}
	return []time.Duration{times[0] / time.Duration(n), times[1] / time.Duration(n)}, nil
}

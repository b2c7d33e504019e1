package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"vfsdb/bench/figures"
)

// readRanges reads pieces of a large file at random, through an open file and by its name. All of it is in the host's
// page cache, and hardly any piece is read twice.
func readRanges(b *bench) error {
	size := int64(b.size(1<<30, 8<<20))
	fsys, err := b.openNew("ranges")
	if err != nil {
		return err
	}
	defer fsys.Close()
	if _, err := fsys.WriteFrom(b.ctx, "large", newNoise(1, size), 0o644); err != nil {
		return err
	}
	if _, err := b.hostStreamIn(b.path("host"), newNoise(1, size), false); err != nil {
		return err
	}
	ours, err := fsys.Open(b.ctx, "large")
	if err != nil {
		return err
	}
	defer ours.Close()
	host, err := os.Open(b.path("host"))
	if err != nil {
		return err
	}
	defer host.Close()

	for _, length := range []int{4 << 10, 64 << 10} {
		n, p := b.size(2000, 20), make([]byte, length)
		reads := func(name string, read func(off int64) (int, error)) side {
			return side{name, func(round int) (time.Duration, error) {
				random := rand.New(rand.NewPCG(uint64(round), uint64(length)))
				return b.timed(func() error {
					for range n {
						off := random.Int64N(size/int64(length)) * int64(length)
						if got, err := read(off); err != nil || got != length {
							return fmt.Errorf("%d bytes at %d: %w", got, off, err)
						}
					}
					return nil
				})
			}}
		}

		times, err := b.race(b.rounds,
			reads("File.ReadAt", func(off int64) (int, error) { return ours.ReadAt(p, off) }),
			reads("FS.ReadRange", func(off int64) (int, error) {
				data, err := fsys.ReadRange(b.ctx, "large", off, int64(length))
				return len(data), err
			}),
			reads("pread", func(off int64) (int, error) { return host.ReadAt(p, off) }),
		)
		if err != nil {
			return err
		}

		for i, verb := range []string{"File.ReadAt", "FS.ReadRange"} {
			what := fmt.Sprintf("%s of %s in %s", verb, figures.Of(float64(length), "B"), figures.Of(float64(size), "B"))
			b.add(versus(what, times[i]/time.Duration(n), "pread", times[2]/time.Duration(n), 0))
		}
	}
	return nil
}

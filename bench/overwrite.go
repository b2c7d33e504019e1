package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/vfs"
)

// An overwriter is a file whose blocks are replaced: a *vfs.File or an *os.File.
type overwriter interface {
	WriteAt(p []byte, off int64) (int, error)
	Sync() error
}

// overwrite replaces blocks of 4 KiB at random in a file of 256 MiB: many in one commit, and one by one, each durable
// before the next.
func overwrite(b *bench) error {
	size := int64(b.size(256<<20, 4<<20))
	fsys, err := b.openNew("overwrite")
	if err != nil {
		return err
	}
	defer fsys.Close()
	if _, err := fsys.WriteFrom(b.ctx, "large", newNoise(1, size), 0o644); err != nil {
		return err
	}
	if _, err := b.hostStreamIn(b.path("host"), newNoise(1, size), true); err != nil {
		return err
	}
	ours, err := fsys.OpenFile(b.ctx, "large", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer ours.Close()
	host, err := os.OpenFile(b.path("host"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer host.Close()

	hundredth := int(size / noiseBlock / 100)
	one, err := b.overwrites(fsys, ours, host, size, hundredth, hundredth)
	if err != nil {
		return err
	}
	each := b.size(200, 10)
	durable, err := b.overwrites(fsys, ours, host, size, each, 1)
	if err != nil {
		return err
	}
	within := " in " + figures.Of(float64(size), "B")
	b.add(one.row("overwrite 1%"+within+", one commit", "pwrite, one fsync", 1, 0),
		durable.row("overwrite 4 KiB"+within+", durable", "pwrite+fsync", each, 0.25).aim(0.5))
	return nil
}

// A rewrite is the outcome of a race: the times of both sides, and by how much a block made our file grow.
type rewrite struct {
	ours, host time.Duration
	grown      float64
}

func (o rewrite) row(what, peer string, times int, atLeast float64) row {
	return versus(what, o.ours/time.Duration(times), peer, o.host/time.Duration(times), atLeast).
		with("the database grows by %s for each block of 4 KiB, until it is collected", figures.Of(o.grown, "B"))
}

// overwrites races n blocks, with a sync after each syncAfter of them.
func (b *bench) overwrites(fsys *vfs.FS, ours, host overwriter, size int64, n, syncAfter int) (o rewrite, err error) {
	var seed uint64
	blocks := func(name string, f overwriter, timed func(func() error) (time.Duration, error)) side {
		return side{name, func(round int) (time.Duration, error) {
			seed++ // no two blocks are the same
			random := rand.New(rand.NewPCG(uint64(round), uint64(syncAfter)))
			p := make([]byte, noiseBlock)
			return timed(func() error {
				for i := range n {
					at := random.IntN(len(noise()) - len(p))
					copy(p, noise()[at:])
					stamp(p, seed, uint64(i))
					if _, err := f.WriteAt(p, random.Int64N(size/noiseBlock)*noiseBlock); err != nil {
						return fmt.Errorf("block %d: %w", i, err)
					}
					if (i+1)%syncAfter == 0 {
						if err := f.Sync(); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}}
	}

	before, err := bytesOf(b.ctx, fsys)
	if err != nil {
		return o, err
	}
	times, err := b.race(b.rounds,
		blocks("ours", ours, func(fn func() error) (time.Duration, error) { return b.writes(fsys, fn) }),
		blocks("pwrite", host, b.timed))
	if err != nil {
		return o, err
	}

	after, err := bytesOf(b.ctx, fsys)
	return rewrite{times[0], times[1], float64(after-before) / float64(n*b.rounds)}, err
}

package main

import (
	"errors"
	"fmt"
	"time"

	"vfsdb/bench/figures"
)

// A batch is a number of files of one size, written in one commit.
type batch struct {
	what    string
	n, size int
	removed bool    // as many were written in the same place, and removed, just before
	atLeast float64 // of the ratio with files that are not synced
	aim     float64
}

// createBatch writes many small files in one commit, beside files that are not synced.
func createBatch(b *bench) error {
	for _, c := range []batch{
		{n: b.size(10_000, 300), size: 1 << 10, atLeast: 5, aim: 8},
		{n: b.size(4000, 100), size: 10 << 10, atLeast: 3, aim: 5},
		{n: b.size(2000, 20), size: 50 << 10, atLeast: 0.7, aim: 1.5},
	} {
		c.what = fmt.Sprintf("create %s x %s, one Update", thousands(c.n), figures.Of(float64(c.size), "B"))
		if err := b.create(c); err != nil {
			return err
		}
	}
	return nil
}

// createAgain writes files where others were removed a moment ago, as a clean build does.
func createAgain(b *bench) error {
	n := b.size(10_000, 300)
	return b.create(batch{what: fmt.Sprintf("create %s x 1 KiB where as many went", thousands(n)), n: n, size: 1 << 10, removed: true})
}

// A place is a directory of a store, or of the host, where files are written.
type place struct {
	dirs, write, remove func(files []file) error
}

// create races a batch with files on the host. Those are not durable when they are written, as ours are; a note has
// the time until the host has made them so.
func (b *bench) create(c batch) error {
	fsys, err := b.openNew(fmt.Sprintf("batch-%d", c.size))
	if err != nil {
		return err
	}
	defer fsys.Close()

	// in prepares a place and times the writing of the batch there.
	in := func(p place, round int, timed func(func() error) (time.Duration, error)) (time.Duration, error) {
		files := makeFiles(c.n, c.size, c.size, uint64(round))
		err := p.dirs(files)
		if err == nil && c.removed {
			others := makeFiles(c.n, c.size, c.size, uint64(b.rounds+round))
			err = errors.Join(p.write(others), p.remove(others))
		}
		if err != nil {
			return 0, err
		}
		return timed(func() error { return p.write(files) })
	}

	var safe []time.Duration
	times, err := b.race(b.rounds,
		side{"ours", func(round int) (time.Duration, error) {
			root := fmt.Sprintf("%d/", round)
			return in(place{
				dirs:   func(files []file) error { return makeDirs(b.ctx, fsys, root, files) },
				write:  func(files []file) error { return writeFiles(b.ctx, fsys, root, files) },
				remove: func(files []file) error { return removeFiles(b.ctx, fsys, root, files) },
			}, round, func(fn func() error) (time.Duration, error) { return b.writes(fsys, fn) })
		}},
		side{"os.WriteFile", func(round int) (time.Duration, error) {
			root, err := b.hostDir()
			if err != nil {
				return 0, err
			}
			t, err := in(place{
				dirs:   func(files []file) error { return hostDirs(root, files) },
				write:  func(files []file) error { return hostWrite(root, files) },
				remove: func(files []file) error { return hostRemove(root, files) },
			}, round, b.timed)
			safe = append(safe, t+b.settled())
			return t, err
		}},
	)
	if err != nil {
		return err
	}

	each := func(t time.Duration) string { return figures.Of(t.Seconds()/float64(c.n), "s") }
	b.add(versus(c.what, times[0], "os.WriteFile", times[1], c.atLeast).aim(c.aim).
		with("a file: %s and %s; until a sync was done, the host took %s", each(times[0]), each(times[1]), each(figures.Median(safe))))
	return nil
}

// createDurable writes small files one by one, each of them durable before the next.
func createDurable(b *bench) error {
	return errors.Join(b.durable(1<<10, 1.9, 4), b.durable(10<<10, 1.1, 1.3))
}

// durable races files of one size, with a commit or an fsync for each.
func (b *bench) durable(size int, atLeast, aim float64) error {
	n := b.size(200, 10)
	fsys, err := b.openNew(fmt.Sprintf("durable-%d", size))
	if err != nil {
		return err
	}
	defer fsys.Close()

	times, err := b.race(b.rounds,
		side{"ours", func(round int) (time.Duration, error) {
			files, root := makeFiles(n, size, size, uint64(round)), fmt.Sprintf("%d/", round)
			if err := makeDirs(b.ctx, fsys, root, files); err != nil {
				return 0, err
			}
			return b.writes(fsys, func() error {
				for _, f := range files {
					if err := fsys.WriteFile(b.ctx, root+f.name, f.data, 0o644); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		side{"fsync", func(round int) (time.Duration, error) {
			files := makeFiles(n, size, size, uint64(round))
			root, err := b.hostPlace(files)
			if err != nil {
				return 0, err
			}
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
		return err
	}

	each := func(t time.Duration) time.Duration { return t / time.Duration(n) }
	b.add(versus(fmt.Sprintf("create %s, durable, one by one", figures.Of(float64(size), "B")),
		each(times[0]), "create+write+fsync", each(times[1]), atLeast).aim(aim))
	return nil
}

// thousands writes a count for people.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

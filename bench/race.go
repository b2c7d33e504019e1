package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"vfsdb/bench/figures"
)

// A workload measures one thing, and adds its rows.
type workload struct {
	kind string // under which its bars are drawn
	name string // what -run matches
	run  func(*bench) error
}

// A bench is one run of the program.
type bench struct {
	ctx    context.Context
	root   string // for all temporary files
	rounds int
	short  bool
	cpu    bool // measure processor time
	rows   []row

	progress io.Writer // gets a dot for each side that ran

	kind string // of the running workload
	name string
	dir  string // its own, empty at first
}

// do runs one workload in a directory of its own.
func (b *bench) do(w workload) error {
	b.kind, b.name, b.dir = w.kind, w.name, filepath.Join(b.root, w.name)
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	spread(b.ctx, b.dir)
	return w.run(b)
}

// alive shows progress.
func (b *bench) alive() { fmt.Fprint(b.progress, ".") }

// size returns full, or small in a -short run.
func (b *bench) size(full, small int) int {
	if b.short {
		return small
	}
	return full
}

// few returns the number of rounds of a workload that takes long.
func (b *bench) few() int { return min(b.rounds, 3) }

// path returns the path of a file in the workload's directory.
func (b *bench) path(format string, args ...any) string {
	return filepath.Join(b.dir, fmt.Sprintf(format, args...))
}

// A side is one of the sides of a race. run returns the time that counts; its other work is preparation.
type side struct {
	name string
	run  func(round int) (time.Duration, error)
}

// race runs each side once per round, each round beginning with the next side, and returns their median times.
func (b *bench) race(rounds int, sides ...side) ([]time.Duration, error) {
	times := make([][]time.Duration, len(sides))
	for round := range rounds {
		for i := range sides {
			n := (i + round) % len(sides)
			if err := b.ctx.Err(); err != nil {
				return nil, err
			}
			runtime.GC()
			settle() // this side does not wait for the writes of the one before

			var err error
			pprof.Do(b.ctx, pprof.Labels("side", b.name+"/"+sides[n].name), func(context.Context) {
				var t time.Duration
				t, err = sides[n].run(round)
				times[n] = append(times[n], t)
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", sides[n].name, err)
			}
			b.alive()
		}
	}

	medians := make([]time.Duration, len(sides))
	for i := range sides {
		medians[i] = figures.Median(times[i])
	}
	return medians, nil
}

// sample runs fn n times and returns the median of the times that it returns.
func sample(n int, fn func(i int) (time.Duration, error)) (time.Duration, error) {
	times := make([]time.Duration, n)
	for i := range times {
		var err error
		if times[i], err = fn(i); err != nil {
			return 0, err
		}
	}
	return figures.Median(times), nil
}

// timed returns how long fn takes, by the clock of this run.
func (b *bench) timed(fn func() error) (time.Duration, error) {
	start := b.now()
	err := fn()
	return b.now() - start, err
}

// settled lets the host write its dirty pages, and returns how long that took.
func (b *bench) settled() time.Duration {
	start := b.now()
	settle()
	return b.now() - start
}

// began is when the program was started.
var began = time.Now()

// now reads the clock: wall time, or with -cpu the processor time of this process and of its children that have ended.
func (b *bench) now() time.Duration {
	if b.cpu {
		return processorTime()
	}
	return time.Since(began)
}

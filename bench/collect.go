package main

import (
	"fmt"
	"os"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/gc"
	"vfsdb/snapshot"
)

// collect drops a branch with 10,000 files of its own and collects them, beside removing a directory with as many files
// from the host.
func collect(b *bench) error {
	const size = 10 << 10
	n := b.size(10_000, 300)

	fsys, err := b.openNew("collect")
	if err != nil {
		return err
	}
	defer fsys.Close()
	if err := fsys.WriteFile(b.ctx, "kept", noise()[:size], 0o644); err != nil {
		return err
	}

	var drops, steps []time.Duration
	var blobs, freed, count int
	times, err := b.race(b.few(),
		side{"ours", func(round int) (time.Duration, error) {
			name := fmt.Sprintf("branch-%d", round)
			branch, err := snapshot.Branch(b.ctx, fsys, fsys, name)
			if err != nil {
				return 0, err
			}
			if err := fill(b.ctx, branch, "", makeFiles(n, size, size, uint64(round))); err != nil {
				return 0, err
			}

			drop, err := b.timed(func() error { return snapshot.DeleteBranch(b.ctx, fsys, name) })
			if err != nil {
				return 0, err
			}
			var report *gc.Report
			t, err := b.timed(func() (err error) {
				report, err = gc.Run(b.ctx, fsys, nil)
				return err
			})
			if err != nil {
				return 0, err
			}

			if report.Blobs != int64(n) || report.Branches != 1 {
				return 0, fmt.Errorf("%d blobs of %d branches went, not %d of 1", report.Blobs, report.Branches, n)
			}
			drops, steps = append(drops, drop), append(steps, report.LongestStep)
			blobs, freed, count = int(report.Blobs), int(report.Bytes), report.Steps
			return t, nil
		}},
		side{"os.RemoveAll", func(round int) (time.Duration, error) {
			root := b.path("host-%d", round)
			if err := hostFill(root, makeFiles(n, size, size, uint64(round))); err != nil {
				return 0, err
			}
			return b.timed(func() error { return os.RemoveAll(root) })
		}},
	)
	if err != nil {
		return err
	}

	what := fmt.Sprintf("%s x 10 KiB", thousands(n))
	b.add(versus("drop a branch of "+what, figures.Median(drops), "os.RemoveAll", times[1], 0),
		versus("gc after a branch of "+what, times[0], "os.RemoveAll", times[1], 0).
			with("%s/s; %s blobs in %d steps", figures.Of(float64(freed)/times[0].Seconds(), "B"), thousands(blobs), count),
		under("longest step of it with the lock", "s", figures.Median(steps).Seconds(), 5e-3))
	return nil
}

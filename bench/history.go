package main

import (
	"fmt"
	"io/fs"
	"time"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// forests are the sizes of trees at which history is measured: its costs must not depend on them.
func (b *bench) forests() []int { return []int{b.size(1000, 200), b.size(100_000, 1000)} }

// snapshotCost names a moment of trees of two sizes, after a change each time. A host's durable create stands beside
// it, because one fsync is most of what there is.
func snapshotCost(b *bench) error {
	return b.history("snapshot", func(fsys *vfs.FS, i int) error {
		_, err := snapshot.Create(b.ctx, fsys, fmt.Sprintf("s%d", i), nil)
		return err
	})
}

// branchCost forks the head of trees of two sizes.
func branchCost(b *bench) error {
	return b.history("branch", func(fsys *vfs.FS, i int) error {
		_, err := snapshot.Branch(b.ctx, fsys, fsys, fmt.Sprintf("b%d", i))
		return err
	})
}

func (b *bench) history(verb string, fn func(fsys *vfs.FS, i int) error) error {
	for _, n := range b.forests() {
		err := b.withForest(n, func(fsys *vfs.FS) error {
			each := b.size(50, 5)
			times, err := b.race(b.rounds,
				side{"ours", func(round int) (time.Duration, error) {
					return sample(each, func(i int) (time.Duration, error) {
						if err := b.touch(fsys, i); err != nil {
							return 0, err
						}
						return b.timed(func() error { return fn(fsys, round*each+i) })
					})
				}},
				side{"fsync", func(round int) (time.Duration, error) {
					return sample(each, func(i int) (time.Duration, error) {
						name := b.path("host-%d-%d-%d", n, round, i)
						return b.timed(func() error { return hostCreateSync(name, noise()[:100]) })
					})
				}},
			)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%s of %s files", verb, thousands(n))
			b.add(versus(what, times[0], "create+write+fsync", times[1], 0).below(1e-3))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// touch changes one file a little.
func (b *bench) touch(fsys *vfs.FS, i int) error {
	return fsys.Chtimes(b.ctx, pathOf(i%100), time.Time{}, time.Unix(int64(i), 0))
}

// diffCost compares a snapshot with the head that has moved on by 200 changes.
func diffCost(b *bench) error {
	n, changes := b.size(100_000, 1000), b.size(200, 20)
	var then string
	err := b.withForest(n, func(fsys *vfs.FS) error {
		then = fsys.Name()
		if _, err := snapshot.Create(b.ctx, fsys, "then", nil); err != nil {
			return err
		}
		return fsys.Update(b.ctx, func(tx *vfs.Tx) error { return change(tx, n, changes) })
	})
	if err != nil {
		return err
	}
	var first, again []time.Duration
	for range b.rounds {
		f, a, err := b.diff(then, changes)
		if err != nil {
			return err
		}
		first, again = append(first, f), append(again, a...)
	}
	what := fmt.Sprintf("diff of %d in %s files", changes, thousands(n))
	b.add(under(what+", just opened", "s", median(first).Seconds(), 5e-3).aim(0.5e-3),
		under(what+", again", "s", median(again).Seconds(), 5e-3).aim(0.5e-3))
	return nil
}

// change makes changes of three kinds all over the tree: of ten, eight files get new content, one goes and one comes.
func change(tx *vfs.Tx, n, changes int) error {
	for i := range changes {
		name := pathOf(i * (n / changes))
		var err error
		switch i % 10 {
		case 0:
			err = tx.Remove(name)
		case 1:
			err = tx.WriteFile(name+".new", fmt.Appendf(nil, "new %d", i), 0o644)
		default:
			err = tx.WriteFile(name, fmt.Appendf(nil, "changed %d", i), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// diff times the first comparison of a store that was just opened, and some more.
func (b *bench) diff(name string, changes int) (first time.Duration, again []time.Duration, err error) {
	fsys, err := vfs.Open(b.ctx, name, nil)
	if err != nil {
		return 0, nil, err
	}
	defer fsys.Close()
	then, err := snapshot.Open(b.ctx, fsys, "then")
	if err != nil {
		return 0, nil, err
	}
	for i := range 6 {
		t, err := b.timed(func() error {
			found := 0
			for _, err := range snapshot.Diff(b.ctx, then, fsys) {
				if err != nil {
					return err
				}
				found++
			}
			if found != changes {
				return fmt.Errorf("%d changes were found, not %d", found, changes)
			}
			return nil
		})
		if err != nil {
			return 0, nil, err
		}
		if i == 0 {
			first = t
		} else {
			again = append(again, t)
		}
	}
	return first, again, nil
}

// snapshotBytes is how much the file grows with a snapshot and one small change, a thousand times.
func snapshotBytes(b *bench) error {
	n := b.size(1000, 50)
	for _, c := range []struct {
		what   string
		limit  float64
		aim    float64
		change func(fsys *vfs.FS, i int) error
	}{
		{"bytes per snapshot and chmod", 400, 100, func(fsys *vfs.FS, i int) error {
			return fsys.Chmod(b.ctx, pathOf(0), fs.FileMode(0o600|0o044*(i%2)))
		}},
		{"bytes per snapshot and write of 16 B", 400, 100, func(fsys *vfs.FS, i int) error {
			return fsys.WriteFile(b.ctx, pathOf(0), fmt.Appendf(nil, "version %08d", i), 0o644)
		}},
	} {
		err := b.withForest(b.forests()[0], func(fsys *vfs.FS) error {
			grown, err := b.growth(fsys, n, func(i int) error {
				if err := c.change(fsys, i); err != nil {
					return err
				}
				_, err := snapshot.Create(b.ctx, fsys, fmt.Sprintf("s%d", i), nil)
				return err
			})
			if err != nil {
				return err
			}
			b.add(under(c.what, "B", grown, c.limit).aim(c.aim))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// growth runs fn n times and returns the bytes that each added to the file.
func (b *bench) growth(fsys *vfs.FS, n int, fn func(i int) error) (float64, error) {
	before, err := bytesOf(b.ctx, fsys)
	if err != nil {
		return 0, err
	}
	for i := range n {
		if err := fn(i); err != nil {
			return 0, err
		}
	}
	after, err := bytesOf(b.ctx, fsys)
	return float64(after-before) / float64(n), err
}

// branchBytes forks one snapshot a thousand times.
func branchBytes(b *bench) error {
	n := b.size(1000, 50)
	return b.withForest(b.forests()[0], func(fsys *vfs.FS) error {
		base, err := snapshot.Create(b.ctx, fsys, "base", nil)
		if err != nil {
			return err
		}
		var times []time.Duration
		grown, err := b.growth(fsys, n, func(i int) error {
			t, err := b.timed(func() error {
				_, err := snapshot.Branch(b.ctx, fsys, base, fmt.Sprintf("b%d", i))
				return err
			})
			times = append(times, t)
			return err
		})
		if err != nil {
			return err
		}
		tenth := max(1, n/10)
		early, late := median(times[:tenth]), median(times[n-tenth:])
		b.add(under(fmt.Sprintf("fork, %s branches of one base", thousands(n)), "s", median(times).Seconds(), 0).
			with("the first tenth %s, the last tenth %s", figure(early.Seconds(), "s"), figure(late.Seconds(), "s")),
			under("bytes per fork", "B", grown, 0))
		return nil
	})
}

package main

import (
	"fmt"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// diffCost compares a snapshot with the head after 200 changes, in trees of several sizes.
func diffCost(b *bench) error {
	changes := b.size(200, 20)
	for i, n := range b.forests() {
		var name string
		err := b.withForest(n, func(fsys *vfs.FS) error {
			name = fsys.Name()
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
			f, a, err := b.diff(name, changes)
			if err != nil {
				return err
			}
			first, again = append(first, f), append(again, a...)
		}

		limit, aim := 0.0, 0.0
		if i == 1 { // the goal is one for 100,000 files
			limit, aim = 5e-3, 0.5e-3
		}
		what := fmt.Sprintf("diff of %d in %s files", changes, thousands(n))
		b.add(under(what+", opened", "s", figures.Median(first).Seconds(), limit).aim(aim),
			under(what+", again", "s", figures.Median(again).Seconds(), limit).aim(aim))
	}
	return nil
}

// diff times the first comparison of a store that was just opened, and the next few.
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
	if first, err = b.countDiff(then, fsys, changes); err != nil {
		return 0, nil, err
	}

	for range 5 {
		t, err := b.countDiff(then, fsys, changes)
		if err != nil {
			return 0, nil, err
		}
		again = append(again, t)
	}
	return first, again, nil
}

// countDiff times one comparison, which has to find the given number of changes.
func (b *bench) countDiff(from, to snapshot.Tree, changes int) (time.Duration, error) {
	return b.timed(func() error {
		found := 0
		for _, err := range snapshot.Diff(b.ctx, from, to) {
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
}

// restoreCost undoes 200 changes, in trees of several sizes. Each restore is one durable commit.
func restoreCost(b *bench) error {
	changes := b.size(200, 20)
	for _, n := range b.forests() {
		err := b.withForest(n, func(fsys *vfs.FS) error {
			then, err := snapshot.Create(b.ctx, fsys, "then", nil)
			if err != nil {
				return err
			}

			t, err := sample(3*b.rounds, func(int) (time.Duration, error) {
				if err := fsys.Update(b.ctx, func(tx *vfs.Tx) error { return change(tx, n, changes) }); err != nil {
					return 0, err
				}
				return b.timed(func() error {
					_, err := snapshot.Restore(b.ctx, fsys, then)
					return err
				})
			})
			if err != nil {
				return err
			}

			if _, err := b.countDiff(then, fsys, 0); err != nil {
				return err
			}
			b.add(under(fmt.Sprintf("restore of %d in %s files", changes, thousands(n)), "s", t.Seconds(), 0))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// change makes changes of three kinds all over the tree: of ten, eight files get new content, one goes, and one comes.
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

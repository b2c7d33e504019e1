package main

import (
	"fmt"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// forests returns the sizes of trees at which history is measured: its costs must not depend on them.
func (b *bench) forests() []int {
	return []int{b.size(1000, 200), b.size(100_000, 1000), b.size(1_000_000, 2000)}
}

// snapshotCost names a moment of trees of several sizes.
func snapshotCost(b *bench) error {
	return b.flat("snapshot", func(fsys *vfs.FS, name string) error {
		_, err := snapshot.Create(b.ctx, fsys, name, nil)
		return err
	})
}

// branchCost forks the head of trees of several sizes.
func branchCost(b *bench) error {
	return b.flat("branch", func(fsys *vfs.FS, name string) error {
		_, err := snapshot.Branch(b.ctx, fsys, fsys, name)
		return err
	})
}

// flat times a verb on trees of all sizes in turn, after a small change each time. The peers are that change, because
// one commit is most of the cost, and for the largest tree the smallest one.
func (b *bench) flat(verb string, fn func(fsys *vfs.FS, name string) error) error {
	sizes := b.forests()
	trees := make([]*vfs.FS, len(sizes))
	for i, n := range sizes {
		name, err := b.forest(n)
		if err != nil {
			return err
		}
		if trees[i], err = vfs.Open(b.ctx, name, nil); err != nil {
			return err
		}
		defer trees[i].Close()
	}
	settle() // the copies are written before a commit is timed

	times := make([][]time.Duration, len(sizes))
	var commits []time.Duration
	for k := range b.rounds * b.size(50, 5) {
		for i := range trees {
			n := (i + k) % len(trees)
			commit, err := b.timed(func() error { return b.touch(trees[n], k) })
			if err != nil {
				return err
			}
			t, err := b.timed(func() error { return fn(trees[n], fmt.Sprintf("%s-%d", verb, k)) })
			if err != nil {
				return err
			}
			commits, times[n] = append(commits, commit), append(times[n], t)
		}
	}

	commit := figures.Median(commits)
	for i, n := range sizes {
		b.add(versus(fmt.Sprintf("%s of %s files", verb, thousands(n)), figures.Median(times[i]), "a Chtimes", commit, 0).
			below(1e-3).aim(commit.Seconds() + 0.1e-3).itself())
	}
	last := len(sizes) - 1
	b.add(versus(fmt.Sprintf("%s of %s files", verb, thousands(sizes[last])), figures.Median(times[last]),
		"of "+thousands(sizes[0]), figures.Median(times[0]), 0.5).itself())
	return nil
}

// touch changes one file a little.
func (b *bench) touch(fsys *vfs.FS, i int) error {
	return fsys.Chtimes(b.ctx, pathOf(i%100), time.Time{}, time.Unix(int64(i), 0))
}

package main

import (
	"fmt"
	"io/fs"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// snapshotChain makes a thousand snapshots, with one small change before each, in commits of their own. It measures how
// long the first and the last of them take, and how long it takes to list them and to compare the ends of the chain. It
// goes on to 20,000, a hundred to a commit, and measures how much the file grew by one: of that, a page is half a byte.
func snapshotChain(b *bench) error {
	n, all := b.size(1000, 50), b.size(20_000, 150)
	for _, c := range []struct {
		name     string
		change   func(fsys *vfs.FS, i int) error
		changeIn func(tx *vfs.Tx, i int) error
	}{
		{
			"chmod",
			func(fsys *vfs.FS, i int) error { return fsys.Chmod(b.ctx, pathOf(0), chainMode(i)) },
			func(tx *vfs.Tx, i int) error { return tx.Chmod(pathOf(0), chainMode(i)) },
		},
		{
			"write",
			func(fsys *vfs.FS, i int) error { return fsys.WriteFile(b.ctx, pathOf(0), chainText(i), 0o644) },
			func(tx *vfs.Tx, i int) error { return tx.WriteFile(pathOf(0), chainText(i), 0o644) },
		},
	} {
		err := b.withForest(b.forests()[0], func(fsys *vfs.FS) error {
			grown, times, err := b.growth(fsys, n, func(i int) error {
				if err := c.change(fsys, i); err != nil {
					return err
				}
				_, err := snapshot.Create(b.ctx, fsys, chainName(i), nil)
				return err
			})
			if err != nil {
				return err
			}
			chain, err := b.chain(fsys, n)
			if err != nil {
				return err
			}

			// The short chain is a part of the long one.
			const each = 100
			more, _, err := b.growth(fsys, (all-n)/each, func(batch int) error {
				return fsys.Update(b.ctx, func(tx *vfs.Tx) error {
					for i := range each {
						i += n + batch*each
						if err := c.changeIn(tx, i); err != nil {
							return err
						}
						if _, err := snapshot.CreateIn(tx, chainName(i), ""); err != nil {
							return err
						}
					}
					return nil
				})
			})
			grown = (grown*float64(n) + more*float64((all-n)/each)) / float64(all)

			b.add(under("bytes per "+c.name+" and snapshot", "B", grown, 400).aim(100),
				under(c.name+" and snapshot, each of "+thousands(n), "s", figures.Median(times).Seconds(), 0).with("%s", tenths(times)))
			b.add(chain...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// chainMode, chainText and chainName are the mode and the text that the file has in the snapshot i of a chain, and its
// name.
func chainMode(i int) fs.FileMode { return fs.FileMode(0o600 | 0o044*(i%2)) }

func chainText(i int) []byte { return fmt.Appendf(nil, "version %08d", i) }

func chainName(i int) string { return fmt.Sprintf("s%d", i) }

// chain lists the snapshots s0 to s(n-1), and compares the first with the last, between which one file has changed.
func (b *bench) chain(fsys *vfs.FS, n int) ([]row, error) {
	list, err := sample(b.size(50, 5), func(int) (time.Duration, error) {
		return b.timed(func() error {
			list, err := snapshot.List(b.ctx, fsys)
			if err == nil && len(list) != n {
				err = fmt.Errorf("%d snapshots are listed, not %d", len(list), n)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}

	first, err := snapshot.Open(b.ctx, fsys, chainName(0))
	if err != nil {
		return nil, err
	}
	last, err := snapshot.Open(b.ctx, fsys, chainName(n-1))
	if err != nil {
		return nil, err
	}
	diff, err := sample(b.size(50, 5), func(int) (time.Duration, error) { return b.countDiff(first, last, 1) })

	return []row{
		under("list "+thousands(n)+" snapshots", "s", list.Seconds(), 0),
		under("diff of the first and the last", "s", diff.Seconds(), 0),
	}, err
}

// branchBytes forks one snapshot a thousand times.
func branchBytes(b *bench) error {
	n := b.size(1000, 50)
	return b.withForest(b.forests()[0], func(fsys *vfs.FS) error {
		base, err := snapshot.Create(b.ctx, fsys, "base", nil)
		if err != nil {
			return err
		}
		grown, times, err := b.growth(fsys, n, func(i int) error {
			_, err := snapshot.Branch(b.ctx, fsys, base, fmt.Sprintf("b%d", i))
			return err
		})
		if err != nil {
			return err
		}
		b.add(under("bytes per fork", "B", grown, 0),
			under("fork, each of "+thousands(n)+" of one base", "s", figures.Median(times).Seconds(), 0).with("%s", tenths(times)))
		return nil
	})
}

// growth runs fn n times and returns the bytes that each added to the file, and how long each took.
func (b *bench) growth(fsys *vfs.FS, n int, fn func(i int) error) (grown float64, times []time.Duration, err error) {
	before, err := bytesOf(b.ctx, fsys)
	if err != nil {
		return 0, nil, err
	}

	for i := range n {
		t, err := b.timed(func() error { return fn(i) })
		if err != nil {
			return 0, nil, err
		}
		times = append(times, t)
	}

	after, err := bytesOf(b.ctx, fsys)
	return float64(after-before) / float64(n), times, err
}

// tenths compares the last times with the first.
func tenths(times []time.Duration) string {
	tenth := max(1, len(times)/10)
	early, late := figures.Median(times[:tenth]), figures.Median(times[len(times)-tenth:])
	return fmt.Sprintf("the first tenth %s, the last tenth %s", figures.Of(early.Seconds(), "s"), figures.Of(late.Seconds(), "s"))
}

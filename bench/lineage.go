package main

import (
	"errors"
	"fmt"
	"path"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A question is a read that is timed on trees with lineages of different depth.
type question struct {
	name    string
	atLeast float64 // of the ratio
	ask     func(fsys *vfs.FS, i int) error
}

// opening is the question for a tree itself, which reads its lineage and the rows of its levels.
const opening = "open a branch"

// lineageCost asks trees at the end of chains of forks. It is the worst case: all rows of the answers are in the
// deepest level, and every level between has rows of its own elsewhere. The ratio compares with no fork at all.
func lineageCost(b *bench) error {
	depths := []int{1, 4, 16, 64}
	return b.withForest(b.forests()[0], func(fsys *vfs.FS) error {
		if err := fsys.Mkdir(b.ctx, "other", 0o755); err != nil {
			return err
		}
		if err := b.makePrepared(fsys); err != nil {
			return err
		}
		trees, err := b.forkChain(fsys, depths)
		if err != nil {
			return err
		}

		questions, err := b.questions(fsys)
		if err != nil {
			return err
		}
		for _, q := range questions {
			if err := b.askAll(q, depths, trees); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
		return nil
	})
}

// forkChain forks a chain from fsys, and returns its trees at some depths. Each fork writes one file.
func (b *bench) forkChain(fsys *vfs.FS, depths []int) (trees []*vfs.FS, err error) {
	head := fsys
	for depth := 1; depth <= depths[len(depths)-1]; depth++ {
		if depth == depths[len(trees)] {
			trees = append(trees, head)
		}
		if head, err = snapshot.Branch(b.ctx, fsys, head, fmt.Sprintf("fork-%d", depth)); err != nil {
			return nil, err
		}
		if err := head.WriteFile(b.ctx, fmt.Sprintf("other/%d", depth), []byte("x"), 0o644); err != nil {
			return nil, err
		}
	}
	return trees, nil
}

// questions returns the questions of lineageCost.
func (b *bench) questions(fsys *vfs.FS) ([]question, error) {
	info, err := fsys.Lstat(b.ctx, pathOf(0))
	if err != nil {
		return nil, err
	}

	return []question{
		{opening, 0, func(fsys *vfs.FS, i int) error {
			_, err := fsys.Branch(b.ctx, fsys.Head())
			return err
		}},
		{"lookup (Lstat, 1 segment)", 0.5, func(fsys *vfs.FS, i int) error {
			_, err := fsys.Lstat(b.ctx, "d00")
			return err
		}},
		{"stat (Info of an inode)", 0.5, func(fsys *vfs.FS, i int) error {
			return fsys.View(b.ctx, func(tx *vfs.Tx) error {
				_, err := (*tree.Tx)(tx).Info(info.Ino())
				return err
			})
		}},
		{"resolve (Lstat, 4 segments)", 0.5, func(fsys *vfs.FS, i int) error {
			_, err := fsys.Lstat(b.ctx, pathOf(i%100))
			return err
		}},
		{"readdir of 100", 0.5, func(fsys *vfs.FS, i int) error {
			list, err := fsys.ReadDir(b.ctx, path.Dir(pathOf(0)))
			if err == nil && len(list) != 100 {
				err = fmt.Errorf("%d entries", len(list))
			}
			return err
		}},
	}, nil
}

// askAll asks each tree in turn, many times, cold and warm, and adds a row for each of the two.
func (b *bench) askAll(q question, depths []int, trees []*vfs.FS) error {
	cold := make([][]time.Duration, len(trees))
	warm := make([][]time.Duration, len(trees))
	for i := range b.size(200, 5) {
		for n, tree := range trees {
			t, err := b.askCold(q, i, trees[0].Name(), tree.Head())
			if err != nil {
				return err
			}
			cold[n] = append(cold[n], t)
		}
	}

	const burst = 50
	for i := range b.size(200, 5) {
		for n, tree := range trees {
			t, err := b.timed(func() error {
				for k := range burst {
					if err := q.ask(tree, i+k); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			warm[n] = append(warm[n], t/burst)
		}
	}

	b.add(depthRow(q.name+", cold", depths, cold, q.atLeast), depthRow(q.name+", warm", depths, warm, q.atLeast))
	return nil
}

// prepared are branches on which statements are prepared: a fork, a fork of that, and one that was not forked.
var prepared = []string{"prepared-fork", "prepared-forks", "prepared-root"}

// makePrepared makes those branches.
func (b *bench) makePrepared(fsys *vfs.FS) error {
	fork, err := snapshot.Branch(b.ctx, fsys, fsys, prepared[0])
	if err != nil {
		return err
	}
	if err := fork.WriteFile(b.ctx, "other/0", nil, 0o644); err != nil {
		return err
	}
	if _, err := snapshot.Branch(b.ctx, fsys, fork, prepared[1]); err != nil {
		return err
	}
	root, err := snapshot.Branch(b.ctx, fsys, nil, prepared[2])
	if err != nil {
		return err
	}
	return fill(b.ctx, root, "", makeFiles(100, 32, 32, 7))
}

// askCold asks a tree of a store that was just opened. It asks other branches first, so that the statements are
// prepared: a connection does that once, not for each tree.
func (b *bench) askCold(q question, i int, name, branch string) (t time.Duration, err error) {
	fsys, err := vfs.Open(b.ctx, name, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, fsys.Close())
	}()

	for _, name := range append(prepared, branch) {
		var tree *vfs.FS
		if t, err = b.timed(func() (err error) { tree, err = fsys.Branch(b.ctx, name); return err }); err != nil {
			return 0, err
		}
		if q.name == opening {
			continue
		}
		if t, err = b.timed(func() error { return q.ask(tree, i) }); err != nil {
			return 0, err
		}
	}
	return t, nil // of the last
}

// depthRow compares the slowest depth with the first.
func depthRow(what string, depths []int, times [][]time.Duration, atLeast float64) row {
	note := "at depth"
	worst := 0
	medians := make([]time.Duration, len(depths))
	for i, d := range depths {
		medians[i] = figures.Median(times[i])
		note += fmt.Sprintf("  %d: %s", d, figures.Of(medians[i].Seconds(), "s"))
		if i > 0 && (worst == 0 || medians[i] > medians[worst]) {
			worst = i
		}
	}
	return versus(what, medians[worst], "depth 1", medians[0], atLeast).itself().with("%s", note)
}

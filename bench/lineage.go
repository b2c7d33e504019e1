package main

import (
	"fmt"
	"path"
	"time"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A question is asked of trees whose lineages are of different depth.
type question struct {
	name    string
	atLeast float64 // of the ratio
	ask     func(fsys *vfs.FS, i int) error
}

// opening asks for a tree itself, which reads its lineage and what the levels of that hold.
const opening = "open a branch"

// lineageCost asks trees at the end of chains of forks. All rows that are looked for are in the deepest level, and
// every level between has rows of its own elsewhere: the worst case. The ratio compares with no fork at all.
func lineageCost(b *bench) error {
	depths := []int{1, 4, 16, 64}
	var trees []*vfs.FS
	return b.withForest(b.forests()[0], func(fsys *vfs.FS) error {
		if err := fsys.Mkdir(b.ctx, "other", 0o755); err != nil {
			return err
		}
		if err := b.makePrepared(fsys); err != nil {
			return err
		}
		head := fsys
		for depth := 1; depth <= depths[len(depths)-1]; depth++ {
			if depth == depths[len(trees)] {
				trees = append(trees, head)
			}
			next, err := snapshot.Branch(b.ctx, fsys, head, fmt.Sprintf("fork-%d", depth))
			if err != nil {
				return err
			}
			if err := next.WriteFile(b.ctx, fmt.Sprintf("other/%d", depth), []byte("x"), 0o644); err != nil {
				return err
			}
			head = next
		}
		info, err := fsys.Lstat(b.ctx, pathOf(0))
		if err != nil {
			return err
		}
		for _, q := range []question{
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
					_, err := tx.Info(info.Ino())
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
		} {
			if err := b.askAll(q, depths, trees); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
		return nil
	})
}

// askAll asks each tree in turn, again and again, cold and warm, and adds a row for either.
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

// prepared are branches that statements are prepared on: a fork, a fork of that, and one that was not forked.
var prepared = []string{"prepared-fork", "prepared-forks", "prepared-root"}

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
	files := makeFiles(100, 32, 32, 7)
	if err := makeDirs(b.ctx, root, "", files); err != nil {
		return err
	}
	return writeFiles(b.ctx, root, "", files)
}

// askCold asks a store that was just opened. Only statements are prepared, by asking other branches: that is done once
// per connection, not per tree.
func (b *bench) askCold(q question, i int, name, branch string) (t time.Duration, err error) {
	fsys, err := vfs.Open(b.ctx, name, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closeErr := fsys.Close(); err == nil {
			err = closeErr
		}
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
		medians[i] = median(times[i])
		note += fmt.Sprintf("  %d: %s", d, figure(medians[i].Seconds(), "s"))
		if i > 0 && (worst == 0 || medians[i] > medians[worst]) {
			worst = i
		}
	}
	return versus(what, medians[worst], "depth 1", medians[0], atLeast).itself().with("%s", note)
}

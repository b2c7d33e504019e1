package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/merge"
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

// mergeCost merges two branches of a large tree, each of which has edited other files, beside git on the same trees. Then it
// merges into a branch that has not moved.
func mergeCost(b *bench) error {
	n, changes := b.forests()[1], b.size(200, 20)
	return b.withForest(n, func(fsys *vfs.FS) error {
		sides := []side{
			{"vfsdb", func(int) (time.Duration, error) { return b.mergeOurs(fsys, n, changes, true) }},
			{"forward", func(int) (time.Duration, error) { return b.mergeOurs(fsys, n, changes, false) }},
		}
		git, err := exec.LookPath("git")
		if err == nil {
			repo := b.path("repo")
			if err := b.importRepo(git, repo, n, changes); err != nil {
				return err
			}
			sides = append(sides, side{"git", func(int) (time.Duration, error) {
				return b.timed(exec.CommandContext(b.ctx, git, "-C", repo, "merge-tree", "--write-tree", "ours", "theirs").Run)
			}})
		}

		times, err := b.race(b.rounds, sides...)
		if err != nil {
			return err
		}
		what, peer := fmt.Sprintf("merge of %d a side in %s files", changes, thousands(n)), "git merge-tree"
		row := absent(what, times[0], peer)
		if git != "" {
			row = versus(what, times[0], peer, times[2], 1).aim(3.3)
		}
		b.add(row, under(fmt.Sprintf("merge of %d where one side did not move", changes), "s", times[1].Seconds(), 5e-3).aim(1e-3))
		return nil
	})
}

// mergeOurs times one merge of two new branches.
func (b *bench) mergeOurs(fsys *vfs.FS, n, changes int, moved bool) (time.Duration, error) {
	var branches [2]*vfs.FS
	for i := range branches {
		var err error
		if branches[i], err = snapshot.Branch(b.ctx, fsys, fsys, ""); err != nil {
			return 0, err
		}
		err = branches[i].Update(b.ctx, func(tx *vfs.Tx) (err error) {
			for c := 0; c < changes && err == nil && (moved || i > 0); c++ {
				path, data := edit(c, i, n, changes)
				err = tx.WriteFile(path, data, 0o644)
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return b.timed(func() error {
		r, err := merge.Into(b.ctx, branches[0], branches[1], nil)
		if err == nil && len(r.Changes) != changes {
			err = fmt.Errorf("a merge brought %d changes, not %d", len(r.Changes), changes)
		}
		return err
	})
}

// edit returns the file that a side edits in a change, and what it writes there.
func edit(change, side, n, changes int) (path string, data []byte) {
	return pathOf(change*(n/changes) + side), fmt.Appendf(nil, "change %d of side %d", change, side)
}

// importRepo makes a repository of git with the forest, and a commit of each side's changes.
func (b *bench) importRepo(git, repo string, n, changes int) error {
	var in bytes.Buffer
	const commit = "commit refs/heads/%s\ncommitter a <a@b> 0 +0000\ndata 0\n%s"
	file := func(path string, data []byte) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(data), data)
	}

	fmt.Fprintf(&in, commit, "base", "")
	data := make([]byte, 32)
	for i := range n {
		stamp(data, 7, uint64(i))
		file(pathOf(i), data)
	}
	for i, branch := range []string{"ours", "theirs"} {
		fmt.Fprintf(&in, commit, branch, "from refs/heads/base\n")
		for c := range changes {
			file(edit(c, i, n, changes))
		}
	}
	if err := exec.CommandContext(b.ctx, git, "init", "-q", "--bare", repo).Run(); err != nil {
		return err
	}
	cmd := exec.CommandContext(b.ctx, git, "-C", repo, "fast-import", "--quiet")
	cmd.Stdin = &in
	return cmd.Run()
}

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"time"

	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

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

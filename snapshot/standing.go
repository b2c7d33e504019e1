package snapshot

import (
	"context"
	"slices"
	"time"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A Standing compares a branch with main.
type Standing struct {
	vfs.Branch
	Changed time.Time // when its tree last changed; zero if it never did

	// Ahead counts the calls in the past of the branch that main does not contain, by its own past or by merges, and Behind
	// those of main that the branch does not contain. A merge is not counted, only what came by it. What was changed as part of
	// no call counts as one, where there are no calls. Both are -1 for main itself, and for a branch that has nothing in
	// common with it.
	Ahead, Behind int
}

// Standings describes the branches of the store, oldest first. It costs some look-ups for each branch, and one pass over the
// numbers of calls, whatever the size of the trees. Of a branch that was changed as part of no call it may look at all
// that has changed there.
func Standings(ctx context.Context, fsys *vfs.FS) (list []Standing, err error) {
	err = (*tree.Tree)(fsys).View(ctx, func(tx *tree.Tx) error {
		list, err = standings(tx.DB())
		return err
	})
	return list, err
}

func standings(db *schema.Tx) ([]Standing, error) {
	branches, err := history.Branches(db)
	if err != nil {
		return nil, err
	}
	main, err := history.FindBranch(db, vfs.MainBranch)
	if err != nil {
		return nil, err
	}
	c := counter{db: db, steps: make(map[int64][]int64)}
	if c.main, err = history.Contained(db, vfs.Moment{Branch: main, Epoch: schema.Head}); err != nil {
		return nil, err
	}
	if c.total, err = c.count(c.main, nil); err != nil {
		return nil, err
	}

	list := make([]Standing, len(branches))
	for i, b := range branches {
		list[i] = Standing{Branch: b, Ahead: -1, Behind: -1}
		if list[i].Changed, err = lastChange(db, b); err != nil {
			return nil, err
		}
		if b.ID == main {
			continue
		}
		if err := c.compare(&list[i], main); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// lastChange returns when the tree of a branch last changed; zero if it never did.
func lastChange(db *schema.Tx, b vfs.Branch) (time.Time, error) {
	step, last, called, err := journal.LastStep(db, b.ID)
	if err != nil {
		return last, err
	}

	// What was written as part of no call since. A new branch may have a root, which is as old as it is.
	text := `SELECT max(ctime) FROM inode WHERE branch = ?1 AND ctime > ?2`
	bound := b.Created.UnixNano()
	if called {
		text, bound = `SELECT max(ctime) FROM inode WHERE branch = ?1 AND born > ?2 AND born > 2`, step.Epoch
	}
	ns, written, err := db.Int(text, b.ID, bound)
	if at := time.Unix(0, ns); written && at.After(last) {
		last = at
	}
	return last, err
}

// A counter counts the calls of branches that main does not contain, and the other way round.
type counter struct {
	db    *schema.Tx
	main  map[int64]int64   // what main contains: of each branch up to an epoch
	total int               // the calls of that
	steps map[int64][]int64 // the epochs of the calls, but for merges, of branches that were looked at
}

// compare compares a branch with main.
func (c *counter) compare(s *Standing, main int64) error {
	of, err := history.Contained(c.db, vfs.Moment{Branch: s.ID, Epoch: schema.Head})
	if err != nil {
		return err
	}
	common := make(map[int64]int64)
	for branch, epoch := range of {
		if e := min(epoch, c.main[branch]); e > 0 {
			common[branch] = e
		}
	}
	if len(common) == 0 {
		return nil
	}

	if s.Ahead, err = c.count(of, common); err != nil {
		return err
	}
	both, err := c.count(common, nil)
	if err != nil {
		return err
	}
	s.Behind = c.total - both

	// What is part of no call.
	if s.Ahead == 0 {
		if s.Ahead, err = c.written(s.ID, c.main[s.ID]); err != nil {
			return err
		}
	}
	if s.Behind == 0 {
		s.Behind, err = c.written(main, of[main])
	}
	return err
}

// count counts the calls that one moment contains, and another one does not.
func (c *counter) count(of, without map[int64]int64) (n int, err error) {
	for branch, epoch := range of {
		list, known := c.steps[branch]
		if !known {
			if list, err = c.read(branch); err != nil {
				return 0, err
			}
			c.steps[branch] = list
		}
		first, _ := slices.BinarySearch(list, without[branch]+1)
		last, there := slices.BinarySearch(list, epoch)
		if there {
			last++
		}
		n += max(0, last-first)
	}
	return n, nil
}

// read returns the epochs of the calls of a branch that are no merges.
func (c *counter) read(branch int64) ([]int64, error) {
	list, err := journal.StepEpochs(c.db, branch)
	if err != nil {
		return nil, err
	}
	merges, err := history.MergeEpochs(c.db, branch)
	return slices.DeleteFunc(list, func(epoch int64) bool {
		_, merge := slices.BinarySearch(merges, epoch)
		return merge
	}), err
}

// written returns 1 if the tree of a branch was changed after an epoch by no call, and by none at all, else 0.
func (c *counter) written(branch, epoch int64) (int, error) {
	if next, err := journal.StepAfter(c.db, branch, epoch); err != nil || next != schema.Head {
		return 0, err
	}
	text := `SELECT EXISTS (SELECT 1 FROM inode WHERE branch = ?1 AND born > ?2 AND born > 2)`
	if epoch < schema.FirstEpoch { // a fork has no rows at first
		text = `SELECT EXISTS (SELECT 1 FROM inode WHERE branch = ?1 AND born > ?2)`
	}
	n, _, err := c.db.Int(text, branch, epoch)
	return int(n), err
}

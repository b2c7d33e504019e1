package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"vfsdb/history"
	"vfsdb/schema"
)

// This file checks history: branches, their lineages and snapshots. It lists the trees that the other checks look at.

// A subject is a view that history retains: the head of a branch, or a snapshot.
type subject struct {
	branch, snapshot string
	at               history.Moment
	levels           []history.Level
}

func (t *subject) fault(path, format string, args ...any) Fault {
	return Fault{What: fmt.Sprintf(format, args...), Branch: t.branch, Snapshot: t.snapshot, Path: path}
}

// branchFacts are a row of the table branch, and its lineage.
type branchFacts struct {
	id, epoch int64
	name      string // the name that a fault gives it
	named     bool
	levels    []lineageRow
}

type lineageRow struct{ level, ancestor, cap int64 }

// checkHistory checks the branches, their lineages and the snapshots, and lists the trees that they retain.
func (c *checker) checkHistory(ctx context.Context) error {
	return c.db.View(ctx, func(tx *schema.Tx) error {
		branches, err := c.readBranches(tx)
		if err != nil {
			return err
		}

		// Each branch is checked by itself, in the order of their numbers. One of them must be the main branch.
		main := false
		ids := slices.Sorted(maps.Keys(branches))
		for _, id := range ids {
			main = main || branches[id].named && branches[id].name == history.MainBranch
			if err := c.checkLineage(branches, branches[id]); err != nil {
				return err
			}
		}

		if !main {
			if err := c.fault(Fault{What: "branch is missing", Branch: history.MainBranch}); err != nil {
				return err
			}
		}

		if err := c.checkCycles(branches, ids); err != nil {
			return err
		}
		if err := c.checkMerges(tx, branches); err != nil {
			return err
		}
		return c.checkSnapshots(tx, branches)
	})
}

// checkMerges checks the notes of merges: both branches exist, and the moments are over.
func (c *checker) checkMerges(tx *schema.Tx, branches map[int64]*branchFacts) error {
	rows := tx.Query(`SELECT branch, epoch, source, cap FROM merge`)
	defer rows.Close()
	for rows.Next() {
		b, source, what := branches[rows.Int(0)], branches[rows.Int(2)], ""
		switch epoch, last := rows.Int(1), rows.Int(3); {
		case b == nil || source == nil:
			what = fmt.Sprintf("merge of branch %d into branch %d, one of which is missing", rows.Int(2), rows.Int(0))
		case epoch < schema.FirstEpoch || epoch > b.epoch:
			what = fmt.Sprintf("merge in epoch %d, but the branch is in epoch %d", epoch, b.epoch)
		case last < schema.FirstEpoch || last > source.epoch || b != source && source.named && last == source.epoch:
			what = fmt.Sprintf("merge of epoch %d of %s, which is in epoch %d itself", last, source.name, source.epoch)
		}
		if what == "" {
			continue
		}

		fault := Fault{What: what}
		if b != nil {
			fault.Branch = b.name
		}
		if err := c.fault(fault); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (c *checker) readBranches(tx *schema.Tx) (map[int64]*branchFacts, error) {
	branches := make(map[int64]*branchFacts)
	rows := tx.Query(`SELECT id, epoch, name FROM branch ORDER BY id`)
	for rows.Next() {
		b := &branchFacts{id: rows.Int(0), epoch: rows.Int(1), named: !rows.Null(2), name: rows.Text(2)}
		if !b.named {
			b.name = fmt.Sprintf("(branch %d)", b.id)
		}
		branches[b.id] = b
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}

	rows = tx.Query(`SELECT branch, level, ancestor, epoch FROM lineage ORDER BY branch, level`)
	for rows.Next() {
		b := branches[rows.Int(0)]
		if b == nil {
			if err := c.fault(Fault{What: fmt.Sprintf("lineage of branch %d, which is missing", rows.Int(0))}); err != nil {
				rows.Close()
				return nil, err
			}
			continue
		}

		if len(b.levels) <= history.MaxDepth+1 { // one more than there may be is enough for the fault
			b.levels = append(b.levels, lineageRow{rows.Int(1), rows.Int(2), rows.Int(3)})
		}
	}
	return branches, rows.Err()
}

// checkLineage checks one branch by itself, and that its ancestors cannot change below it.
func (c *checker) checkLineage(branches map[int64]*branchFacts, b *branchFacts) error {
	var faults []string
	note := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }

	if b.id < schema.FirstID {
		note("branch has the number %d", b.id)
	}
	if b.epoch < schema.FirstEpoch || b.epoch >= schema.Head {
		note("branch is in epoch %d", b.epoch)
	}
	if b.named {
		c.report.Branches++
		if history.CheckName(b.name) != nil {
			note("branch has an invalid name")
		}
		if len(b.levels) == 0 || b.levels[0] != (lineageRow{0, b.id, schema.Head}) {
			note("lineage does not begin with the branch itself")
		}
	} else if len(b.levels) > 0 {
		note("branch without a name has a lineage")
	}

	// The levels are numbered from 0. Level 0 is the branch itself, and each other one is an ancestor, as of an epoch that
	// no longer changes.
	if len(b.levels) > history.MaxDepth+1 {
		note("lineage has more than %d levels", history.MaxDepth)
	}
	for i, l := range b.levels {
		if l.level != int64(i) {
			note("lineage goes from level %d to %d", i-1, l.level)
			break
		}
		if i == 0 {
			continue
		}

		a := branches[l.ancestor]
		switch {
		case a == nil:
			note("ancestor %d at level %d is missing", l.ancestor, i)
		case l.cap < schema.FirstEpoch || l.cap > a.epoch || a.named && l.cap == a.epoch:
			// A branch without a name is never written to again, so its last epoch may be looked at.
			note("ancestor %s at level %d is seen as of epoch %d, but is in epoch %d itself", a.name, i, l.cap, a.epoch)
		}
	}

	for _, what := range faults {
		if err := c.fault(Fault{What: what, Branch: b.name}); err != nil {
			return err
		}
	}

	// The head is looked at even if the lineage has a fault.
	if b.named && len(b.levels) > 0 {
		c.trees = append(c.trees, subject{branch: b.name, at: history.Moment{Branch: b.id, Epoch: schema.Head}, levels: b.view(schema.Head)})
	}
	return nil
}

// view returns the levels that a branch is read through at an epoch.
func (b *branchFacts) view(epoch int64) []history.Level {
	levels := []history.Level{{Branch: b.id, Cap: epoch}}
	for _, l := range b.levels {
		if l.level > 0 {
			levels = append(levels, history.Level{Branch: l.ancestor, Cap: l.cap})
		}
	}
	return levels
}

// checkCycles finds branches that descend from themselves.
func (c *checker) checkCycles(branches map[int64]*branchFacts, ids []int64) error {
	const walking, done = 1, 2
	state := make(map[int64]int)

	// A branch that the walk meets again before it is done with it is its own ancestor.
	var walk func(b *branchFacts) error
	walk = func(b *branchFacts) error {
		state[b.id] = walking
		for _, l := range b.levels {
			a := branches[l.ancestor]
			if l.level == 0 || a == nil {
				continue
			}

			switch state[a.id] {
			case walking:
				if err := c.fault(Fault{What: "branch is its own ancestor", Branch: a.name}); err != nil {
					return err
				}
			case 0:
				if err := walk(a); err != nil {
					return err
				}
			}
		}
		state[b.id] = done
		return nil
	}

	for _, id := range ids {
		if state[id] == 0 {
			if err := walk(branches[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) checkSnapshots(tx *schema.Tx, branches map[int64]*branchFacts) error {
	rows := tx.Query(`SELECT id, name, branch, epoch FROM snapshot ORDER BY branch, epoch, id`)
	defer rows.Close()
	for rows.Next() {
		c.report.Snapshots++
		id, name, epoch := rows.Int(0), rows.Text(1), rows.Int(3)
		b := branches[rows.Int(2)]

		what, owner := "", ""
		if b != nil {
			owner = b.name
		}

		switch {
		case b == nil:
			what = fmt.Sprintf("snapshot of branch %d, which is missing", rows.Int(2))
		case !b.named:
			what = "snapshot of a branch that was deleted"
		case id < schema.FirstID:
			what = fmt.Sprintf("snapshot has the number %d", id)
		case history.CheckName(name) != nil:
			what = "snapshot has an invalid name"
		case epoch < schema.FirstEpoch || epoch >= b.epoch:
			what = fmt.Sprintf("snapshot is of epoch %d, but the branch is in epoch %d itself", epoch, b.epoch)
		}
		if what != "" {
			if err := c.fault(Fault{What: what, Branch: owner, Snapshot: name}); err != nil {
				return err
			}
		}

		// The tree is looked at even if the snapshot has a fault, as long as there is a tree to read.
		if b != nil && b.named && epoch < schema.Head {
			c.trees = append(c.trees, subject{branch: b.name, snapshot: name, at: history.Moment{Branch: b.id, Epoch: epoch}, levels: b.view(epoch)})
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return nil
}

// stillThere reports whether a tree is retained in this transaction too.
func (t *subject) stillThere(tx *schema.Tx) (bool, error) {
	if t.snapshot == "" {
		_, named, err := history.ReadBranch(tx, t.at.Branch)
		return named, err
	}
	_, ok, err := tx.Int(`SELECT id FROM snapshot WHERE name = ? AND branch = ? AND epoch = ?`, t.snapshot, t.at.Branch, t.at.Epoch)
	return ok, err
}

package check

import (
	"context"
	"fmt"
	"slices"

	"vfsdb/journal"
	"vfsdb/schema"
)

// This file checks what undo goes by: the steps of calls, what was taken back, and how far collections have taken rows.

// stepRules are the tables that name an epoch of a branch and a call, and what their rows are called.
var stepRules = []struct{ table, what string }{{"step", "step"}, {"undone", "undo"}}

// checkSteps checks that each row names an epoch that has been, and a call that is there or is older than all of them.
func (c *checker) checkSteps(ctx context.Context) error {
	for _, r := range stepRules {
		branch, call, epoch := int64(0), int64(0), int64(0)
		err := c.pages(ctx, func(tx *schema.Tx) (int, error) {
			if kept, err := journal.Kept(tx); err != nil || !kept {
				return 0, err
			}
			calls, _, err := journal.CallSpan(tx)
			if err != nil {
				return 0, err
			}
			rows := tx.Query(`SELECT s.branch, s.call, s.epoch, b.epoch, k.id, (SELECT seq FROM sqlite_sequence WHERE name = 'branch')
				FROM `+r.table+` s LEFT JOIN branch b ON b.id = s.branch LEFT JOIN call k ON k.id = s.call
				WHERE (s.branch, s.call, s.epoch) > (?, ?, ?) ORDER BY s.branch, s.call, s.epoch LIMIT ?`, branch, call, epoch, checkPage)
			defer rows.Close()

			n := 0
			for ; rows.Next(); n++ {
				if key := []int64{rows.Int(0), rows.Int(1), rows.Int(2)}; slices.Compare(key, []int64{branch, call, epoch}) <= 0 {
					return n, schema.Corrupt("rows of table %s are out of order: call %d comes after %d", r.table, key[1], call)
				}
				branch, call, epoch = rows.Int(0), rows.Int(1), rows.Int(2)
				what := ""
				switch {
				case branch < schema.FirstID || branch > rows.Int(5):
					what = fmt.Sprintf("on branch %d, which never was", branch)
				case epoch < schema.FirstEpoch || !rows.Null(3) && epoch > rows.Int(3):
					what = fmt.Sprintf("in epoch %d of branch %d, which is in epoch %d", epoch, branch, rows.Int(3))
				case rows.Null(4) && call >= calls:
					what = "whose call is missing"
				}
				if what == "" {
					continue
				}
				if err := c.fault(Fault{What: fmt.Sprintf("%s of call %d %s", r.what, call, what)}); err != nil {
					return n, err
				}
			}
			return n, rows.Err()
		})
		if err != nil {
			return err
		}
	}
	return c.checkReaped(ctx)
}

// checkReaped checks that collections have taken rows of branches that exist.
func (c *checker) checkReaped(ctx context.Context) error {
	return c.db.View(ctx, func(tx *schema.Tx) error {
		rows := tx.Query(`SELECT r.branch, r.epoch, b.epoch FROM reaped r LEFT JOIN branch b ON b.id = r.branch`)
		defer rows.Close()
		for rows.Next() {
			epoch, what := rows.Int(1), ""
			switch {
			case rows.Null(2):
				what = "which is missing"
			case epoch > rows.Int(2) && epoch != schema.Forever:
				what = fmt.Sprintf("which is in epoch %d", rows.Int(2))
			}
			if what == "" {
				continue
			}
			if err := c.fault(Fault{What: fmt.Sprintf("rows up to epoch %d were taken of branch %d, %s", epoch, rows.Int(0), what)}); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

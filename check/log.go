package check

import (
	"context"
	"fmt"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/schema"
)

// This file checks the log: the rows of the tables change and call.

// checkChanges checks the rows of the table change, page by page: numbers without gaps, up to the counter. Rows may
// come at the end meanwhile, and go at the start.
func (c *checker) checkChanges(ctx context.Context) error {
	at, last := int64(0), int64(0) // last is the highest inode number
	return c.pages(ctx, func(tx *schema.Tx) (int, error) {
		if kept, err := journal.Kept(tx); err != nil || !kept {
			return 0, err
		}
		oldest, newest, err := journal.Span(tx)
		if err != nil {
			return 0, err
		}
		calls, _, err := journal.CallSpan(tx)
		if err != nil {
			return 0, err
		}

		// Each change comes with its branch, its call and the change that it has its before from. The last column is the
		// highest number that a branch ever had.
		rows := tx.Query(`SELECT c.seq, ifnull(c.branch, 1024), c.epoch, c.call, c.op, c.Path, c.before, c.after, typeof(c.before), length(c.before), length(c.after),
			b.epoch, k.id, o.after IS NOT NULL, (SELECT seq FROM sqlite_sequence WHERE name = 'branch'),
			c.ino, c.dir, x.argdir, x.displaced, x.seq
			FROM change c LEFT JOIN branch b ON b.id = ifnull(c.branch, 1024) LEFT JOIN call k ON k.id = c.call LEFT JOIN change o ON o.seq = c.before
				LEFT JOIN other x ON x.seq = c.seq
			WHERE c.seq > ? ORDER BY c.seq LIMIT ?`, at, checkPage)
		defer rows.Close()

		n := 0
		for ; rows.Next(); n++ {
			seq := rows.Int(0)
			if seq <= at {
				return n, schema.Corrupt("rows of table change are out of order: %d comes after %d", seq, at)
			}

			what := checkChange(rows, calls)
			if seq != max(at+1, oldest) || seq < schema.FirstID {
				what = fmt.Sprintf("follows change %d", at)
			}

			at = seq
			last = max(last, rows.Int(15), rows.Int(16), rows.Int(17), rows.Int(18))
			if what == "" {
				continue
			}
			if err := c.fault(Fault{What: fmt.Sprintf("change %d: %s", seq, what)}); err != nil {
				return n, err
			}
		}
		if err := rows.Err(); err != nil {
			return n, err
		}

		// The last page ends at the newest change. One fault is enough for numbers that the counter has not reached.
		if n == checkPage {
			return n, nil
		}
		if at != newest && at != 0 {
			if err := c.fault(Fault{What: fmt.Sprintf("the newest change is %d, but the counter says %d", at, newest)}); err != nil {
				return n, err
			}
		}
		return n, c.checkCounter(tx, "ino", "inode", last)
	})
}

// checkOther finds rows of the table other that belong to no change: a trim takes both.
func (c *checker) checkOther(ctx context.Context) error {
	return c.db.View(ctx, func(tx *schema.Tx) error {
		if kept, err := journal.Kept(tx); err != nil || !kept {
			return err
		}
		rows := tx.Query(`SELECT seq FROM other WHERE seq NOT IN (SELECT seq FROM change)`)
		defer rows.Close()
		for rows.Next() {
			if err := c.fault(Fault{What: fmt.Sprintf("change %d is missing, but has a row in other", rows.Int(0))}); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// checkTrails finds changes that the trail of their block leaves out: readers of a path would pass over them.
func (c *checker) checkTrails(ctx context.Context) error {
	const most = checkPage / 256
	at, told := int64(-1), int64(-1)
	return c.pages(ctx, func(tx *schema.Tx) (int, error) {
		if kept, err := journal.Kept(tx); err != nil || !kept {
			return 0, err
		}
		rows := tx.Query(`SELECT t.block, t.bits, c.seq, c.op, c.path, c.arg
			FROM (SELECT block, bits FROM trail WHERE block > ? ORDER BY block LIMIT ?) t
			LEFT JOIN change c ON c.seq BETWEEN t.block * 256 AND t.block * 256 + 255 ORDER BY t.block`, at, most)
		defer rows.Close()

		blocks := 0
		for rows.Next() {
			if rows.Int(0) != at {
				at = rows.Int(0)
				blocks++
			}
			what := ""
			switch {
			case told == at: // one fault of a block is enough
				continue
			case rows.Null(2):
				what = fmt.Sprintf("the trail of block %d has no changes", at)
			case !journal.Covers(rows.Bytes(1), rows.Int(2), journal.Op(rows.Text(3)), rows.Text(4), rows.Text(5)):
				what = fmt.Sprintf("change %d is not in the trail of its block", rows.Int(2))
			default:
				continue
			}
			told = at
			if err := c.fault(Fault{What: what}); err != nil {
				return 0, err
			}
		}
		if blocks == most {
			return checkPage, rows.Err()
		}
		return 0, rows.Err()
	})
}

// checkChange returns the fault of a row; "" if it has none.
func checkChange(rows *schema.Rows, oldestCall int64) string {
	branch, epoch, path := rows.Int(1), rows.Int(2), rows.Text(5)
	switch {
	case branch < schema.FirstID || branch > rows.Int(14): // its row may be gone
		return fmt.Sprintf("branch %d never was", branch)
	case epoch < schema.FirstEpoch || !rows.Null(11) && epoch > rows.Int(11):
		return fmt.Sprintf("made in epoch %d, but the branch is in epoch %d", epoch, rows.Int(11))
	case !rows.Null(3) && rows.Null(12) && rows.Int(3) >= oldestCall:
		return fmt.Sprintf("call %d is missing", rows.Int(3))
	case !journal.ValidOp(rows.Text(4)):
		return "it has an invalid op"
	case !journal.ValidPath(path):
		return "it has an invalid path"
	case !rows.Null(7) && rows.Int(10) != int64(len(chunk.Sum{})):
		return "a sum does not have 32 bytes"
	}

	// The inodes may be gone.
	for col := 15; col < 19; col++ {
		if ino := rows.Int(col); !rows.Null(col) && ino < schema.RootIno {
			return fmt.Sprintf("it names the inode %d", ino)
		}
	}

	if !rows.Null(19) && rows.Null(17) && rows.Null(18) {
		return "its row in other has no number"
	}

	// A before is a sum, or the number of the change whose after it is.
	switch before := rows.Int(6); rows.Text(8) {
	case "null":
	case "blob":
		if rows.Int(9) != int64(len(chunk.Sum{})) {
			return "a sum does not have 32 bytes"
		}
	case "integer":
		if before >= rows.Int(0) || rows.Int(0)-before >= journal.Reach || rows.Int(13) == 0 {
			return fmt.Sprintf("its before is that of change %d, which does not tell it", before)
		}
	default:
		return "its before is no sum"
	}
	return ""
}

// checkCalls checks the rows of the table call, in the way of checkChanges.
func (c *checker) checkCalls(ctx context.Context) error {
	at := int64(0)
	return c.pages(ctx, func(tx *schema.Tx) (int, error) {
		if kept, err := journal.Kept(tx); err != nil || !kept {
			return 0, err
		}
		oldest, newest, err := journal.CallSpan(tx)
		if err != nil {
			return 0, err
		}

		// The changes of a call are counted if none is gone, and if not too many of others lie in between.
		change, _, err := journal.Span(tx)
		if err != nil {
			return 0, err
		}
		rows := tx.Query(`SELECT id, branch, digest, length(digest), (SELECT seq FROM sqlite_sequence WHERE name = 'branch'),
			first >= ?3 AND last - first < 4 * changes + 1024 AND (changes, grew) <>
				(SELECT count(*), total(c.grew) FROM change c WHERE c.seq BETWEEN call.first AND call.last AND c.call = call.id),
			first IS NULL AND (changes <> 0 OR last IS NOT NULL) OR first > last OR last - first >= 4 * changes + 1024 AND changes <= 0
			FROM call WHERE id > ?1 ORDER BY id LIMIT ?2`, at, checkPage, change)
		defer rows.Close()

		n := 0
		for ; rows.Next(); n++ {
			id, what := rows.Int(0), ""
			if id <= at {
				return n, schema.Corrupt("rows of table call are out of order: %d comes after %d", id, at)
			}

			switch {
			case id != max(at+1, oldest) || id < schema.FirstID:
				what = fmt.Sprintf("follows call %d", at)
			case rows.Int(1) < schema.FirstID || rows.Int(1) > rows.Int(4):
				what = fmt.Sprintf("branch %d never was", rows.Int(1))
			case !rows.Null(2) && rows.Int(3) != int64(len(chunk.Sum{})):
				what = "a sum does not have 32 bytes"
			case rows.Int(5) != 0 || rows.Int(6) != 0:
				what = "its row does not count its changes"
			}

			at = id
			if what == "" {
				continue
			}
			if err := c.fault(Fault{What: fmt.Sprintf("call %d: %s", id, what)}); err != nil {
				return n, err
			}
		}
		if err := rows.Err(); err != nil {
			return n, err
		}

		// The last page ends at the newest call.
		if n < checkPage && at != newest && at != 0 {
			return n, c.fault(Fault{What: fmt.Sprintf("the newest call is %d, but the counter says %d", at, newest)})
		}
		return n, nil
	})
}

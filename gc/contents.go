package gc

import (
	"cmp"
	"context"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/schema"
)

// A ContentRow is a row of an inode, with its content and that of its conflict, in any branch, living or dead.
type ContentRow struct {
	Branch     int64
	Ino        node.Ino
	Died, Born int64
	Content    chunk.Content
	Conflict   node.Conflict
}

func (r ContentRow) less(o ContentRow) bool {
	return cmp.Or(cmp.Compare(r.Branch, o.Branch), cmp.Compare(r.Ino, o.Ino), cmp.Compare(r.Died, o.Died)) < 0
}

// ScanContent runs fn on the rows after the given one, in the order of their keys, in one read transaction, until fn
// returns enough. It returns the last row that fn got, to go on from, and whether it was the last of all. A row that is
// changed between two calls may be missed; the write barrier of a collection has its content, see [chunk.Touch].
func ScanContent(ctx context.Context, db *schema.DB, after ContentRow, fn func(*schema.Tx, ContentRow) (enough bool, err error)) (last ContentRow, done bool, err error) {
	last = after
	err = db.View(ctx, func(tx *schema.Tx) error {
		rows := tx.Query(`SELECT branch, ino, died, born, size, blob, manifest, conflict FROM inode WHERE (branch, ino, died) > (?, ?, ?)
			ORDER BY branch, ino, died`, after.Branch, int64(after.Ino), after.Died)
		defer rows.Close()

		for rows.Next() {
			before := last
			last = ContentRow{
				Branch: rows.Int(0), Ino: node.Ino(rows.Int(1)), Died: rows.Int(2), Born: rows.Int(3),
				Content:  chunk.Content{Size: rows.Int(4), Blob: rows.Int(5), Manifest: rows.Int(6)},
				Conflict: node.Conflict(rows.Text(7)),
			}
			if !before.less(last) {
				return schema.Corrupt("rows of table inode are out of order at inode %d", last.Ino)
			}

			if enough, err := fn(tx, last); enough || err != nil {
				return err
			}
		}
		done = true
		return rows.Err()
	})
	return last, done, err
}

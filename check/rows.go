package check

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/node"
	"vfsdb/schema"
)

// This file checks the rows of inodes, entries and orphans, and the counters, each by itself.

// checkPage is how many rows are checked in one transaction.
const checkPage = 8192

// A life is the lifetime of a row, and the epoch of its branch.
type life struct {
	died, born int64
	epoch      int64 // of the branch
	known      bool  // the branch has a row
}

// check returns the fault of a row's life; "" if it has none. before is the epoch in which the last row of the same key
// died.
func (l life) check(before int64) string {
	switch {
	case !l.known:
		return "branch is missing"
	case l.born < schema.FirstEpoch || l.born > l.epoch:
		return fmt.Sprintf("born in epoch %d, but the branch is in epoch %d", l.born, l.epoch)
	case l.died <= l.born:
		return fmt.Sprintf("born in epoch %d, died in epoch %d", l.born, l.died)
	case l.died != schema.Forever && l.died > l.epoch:
		return fmt.Sprintf("died in epoch %d, but the branch is in epoch %d", l.died, l.epoch)
	case l.born < before:
		return fmt.Sprintf("born in epoch %d, but the row before it died in epoch %d: their lives overlap", l.born, before)
	}
	return ""
}

// checkInodes checks every inode row by itself, and the content that it names. It goes by pages, each a moment of its
// own: a row that changes between two of them does not disturb, because rows of one key are born when the last one
// dies.
func (c *checker) checkInodes(ctx context.Context) error {
	type key struct{ branch, ino int64 }
	at, before := key{math.MinInt64, math.MinInt64}, int64(math.MinInt64)

	return c.pages(ctx, func(tx *schema.Tx) (int, error) {
		rows := tx.Query(`SELECT i.branch, i.ino, i.died, i.born, i.mode, i.nlink, i.size, i.blob, i.manifest, length(i.target),
			b.size, m.size, br.epoch, i.xattrs, i.conflict
			FROM inode i LEFT JOIN branch br ON br.id = i.branch LEFT JOIN blob b ON b.id = i.blob LEFT JOIN manifest m ON m.id = i.manifest
			WHERE (i.branch, i.ino, i.died) > (?, ?, ?) ORDER BY i.branch, i.ino, i.died LIMIT ?`, at.branch, at.ino, before, checkPage)
		defer rows.Close()

		n := 0
		for ; rows.Next(); n++ {
			k := key{rows.Int(0), rows.Int(1)}

			// Rows come in the order of their keys, and those of one key in the order of their deaths.
			switch cmp.Or(cmp.Compare(k.branch, at.branch), cmp.Compare(k.ino, at.ino)) {
			case -1:
				return n, schema.Corrupt("rows of table inode are out of order")
			case 1:
				at, before = k, 0
			}
			l := life{died: rows.Int(2), born: rows.Int(3), epoch: rows.Int(12), known: !rows.Null(12)}
			if l.died <= before && before != 0 {
				return n, schema.Corrupt("rows of table inode are out of order")
			}

			row := inodeRow{branch: k.branch, life: l, blobSize: sizeOrNone(rows, 10), manifestSize: sizeOrNone(rows, 11)}
			row.Form = node.Form{
				Ino: k.ino, Mode: rows.Int(4), Nlink: rows.Int(5),
				Content: chunk.Content{Size: rows.Int(6), Blob: rows.Int(7), Manifest: rows.Int(8)},
				HasBlob: !rows.Null(7), HasManifest: !rows.Null(8), HasTarget: !rows.Null(9), Target: rows.Int(9),
				HasXattrs: !rows.Null(13), Xattrs: node.Xattrs(rows.Text(13)),
				HasConflict: !rows.Null(14), Conflict: node.Conflict(rows.Text(14)),
			}

			c.report.Inodes++
			c.lastIno = max(c.lastIno, k.ino)

			for _, what := range []string{l.check(before), row.Fault(), row.checkContent(), checkTerms(tx, row.Conflict)} {
				if err := c.faultOfInode(tx, k.branch, k.ino, l, what); err != nil {
					return n, err
				}
			}
			before = l.died
		}
		return n, rows.Err()
	})
}

// pages calls check in one transaction after another, until it finds less than a page of rows.
func (c *checker) pages(ctx context.Context, check func(*schema.Tx) (int, error)) error {
	for n := checkPage; n == checkPage; {
		err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
			n, err = check(tx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func sizeOrNone(rows *schema.Rows, col int) int64 {
	if rows.Null(col) {
		return -1
	}
	return rows.Int(col)
}

// An inodeRow is a row of the table inode, with the rows that it names.
type inodeRow struct {
	node.Form
	branch                 int64
	life                   life
	blobSize, manifestSize int64 // -1: there is none
}

// checkContent returns the fault of the content that the row names; "" if it has none.
func (r *inodeRow) checkContent() string {
	if r.Mode>>12 != node.KindFile {
		return ""
	}

	// The form of content follows from its size: nothing, one blob, or a manifest.
	size := r.Content.Size
	switch {
	case size < 0 || size > chunk.MaxSize:
		return fmt.Sprintf("file %d has the size %d", r.Ino, size)
	case size <= chunk.Size && r.HasManifest:
		return fmt.Sprintf("content of %d bytes has a manifest", size)
	case size > chunk.Size && (!r.HasManifest || r.HasBlob):
		return fmt.Sprintf("content of %d bytes has no manifest, or a blob beside it", size)
	case size == 0 && r.HasBlob:
		return "empty content has a blob"
	}

	// The rows that it names are there, and have its size.
	switch {
	case r.HasBlob && r.blobSize < 0:
		return fmt.Sprintf("blob %d is missing", r.Content.Blob)
	case r.HasBlob && r.blobSize != size:
		return fmt.Sprintf("content of %d bytes is blob %d, which has %d", size, r.Content.Blob, r.blobSize)
	case r.HasManifest && r.manifestSize < 0:
		return fmt.Sprintf("manifest %d is missing", r.Content.Manifest)
	case r.HasManifest && r.manifestSize != size:
		return fmt.Sprintf("content of %d bytes is manifest %d, which is of %d", size, r.Content.Manifest, r.manifestSize)
	}
	return ""
}

// checkTerms returns the fault of the contents that a conflict names; "" if it has none.
func checkTerms(tx *schema.Tx, conflict node.Conflict) string {
	for _, content := range conflict.Contents() {
		n, _, err := tx.Int(`SELECT EXISTS (SELECT 1 FROM blob WHERE id = ?1 AND size = ?3) OR EXISTS (SELECT 1 FROM manifest WHERE id = ?2 AND size = ?3)`,
			content.Blob, content.Manifest, content.Size)
		if err != nil {
			return "content of its conflict cannot be read: " + err.Error()
		}
		if n == 0 {
			return fmt.Sprintf("content of its conflict is missing, %d bytes of blob %d or manifest %d", content.Size, content.Blob, content.Manifest)
		}
	}
	return ""
}

// checkDirents checks every entry row by itself.
func (c *checker) checkDirents(ctx context.Context) error {
	type key struct {
		branch, parent int64
		name           string
	}
	at, before := key{math.MinInt64, math.MinInt64, ""}, int64(math.MinInt64)

	return c.pages(ctx, func(tx *schema.Tx) (int, error) {
		rows := tx.Query(`SELECT d.branch, d.parent, d.name, d.died, d.born, d.ino, d.kind, br.epoch
			FROM dirent d LEFT JOIN branch br ON br.id = d.branch
			WHERE (d.branch, d.parent, d.name, d.died) > (?, ?, ?, ?) ORDER BY d.branch, d.parent, d.name, d.died LIMIT ?`,
			at.branch, at.parent, at.name, before, checkPage)
		defer rows.Close()

		n := 0
		for ; rows.Next(); n++ {
			k := key{rows.Int(0), rows.Int(1), rows.Text(2)}

			// Rows come in the order of their keys, and those of one key in the order of their deaths.
			switch cmp.Or(cmp.Compare(k.branch, at.branch), cmp.Compare(k.parent, at.parent), strings.Compare(k.name, at.name)) {
			case -1:
				return n, schema.Corrupt("rows of table dirent are out of order")
			case 1:
				at, before = k, 0
			}

			c.report.Dirents++
			l := life{died: rows.Int(3), born: rows.Int(4), epoch: rows.Int(7), known: !rows.Null(7)}
			if l.died <= before && before != 0 {
				return n, schema.Corrupt("rows of table dirent are out of order")
			}

			for _, what := range []string{l.check(before), node.EntryFault(k.name, !rows.Null(5), rows.Int(5), rows.Int(6))} {
				if err := c.faultOfName(tx, k.branch, node.Name{Dir: node.Ino(k.parent), Base: k.name}, l, what); err != nil {
					return n, err
				}
			}
			before = l.died
		}
		return n, rows.Err()
	})
}

// checkOrphans finds inodes that have lost their names and that no collector will ever look for, and a counter that
// would give out numbers again. Orphans of a branch without a name do not count, they go with all its rows; nor do
// inherited ones, which the ancestor's collector leaves to the branches that still see them.
func (c *checker) checkOrphans(ctx context.Context) error {
	return c.db.View(ctx, func(tx *schema.Tx) error {
		rows := tx.Query(`SELECT i.branch, i.ino, i.born FROM inode i JOIN branch br ON br.id = i.branch AND br.name IS NOT NULL
			WHERE i.died = 9223372036854775807 AND i.nlink = 0 AND i.mode <> 0 AND (i.branch, i.ino) NOT IN (SELECT branch, ino FROM orphan)`)
		defer rows.Close()
		for rows.Next() {
			l := life{died: schema.Forever, born: rows.Int(2)}
			if err := c.faultOfInode(tx, rows.Int(0), rows.Int(1), l, fmt.Sprintf("inode %d has no names and does not wait for gc", rows.Int(1))); err != nil {
				return err
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return c.checkCounter(tx, "ino", "inode", c.lastIno)
	})
}

// checkCounter finds a counter that would give out numbers again.
func (c *checker) checkCounter(tx *schema.Tx, name, what string, last int64) error {
	next, err := tx.Reached(name)
	if err == nil && next <= last {
		err = c.fault(Fault{What: fmt.Sprintf("the next %s number is %d, but %d is in use", what, next, last)})
	}
	return err
}

// checkCounters finds counters of content that would give out numbers again. Content that is written while the
// check runs has lower numbers than its counter too.
func (c *checker) checkCounters(ctx context.Context) error {
	return c.db.View(ctx, func(tx *schema.Tx) error {
		version, err := tx.Version()
		if err != nil {
			return err
		}

		for _, table := range []struct {
			name, last string
			since      int64 // the format that it came with
		}{
			{"blob", `SELECT max(id) FROM blob`, 1},
			{"manifest", `SELECT max(id) FROM manifest`, 1},
			{"pack", `SELECT max(id) FROM pack`, 2},
		} {
			if version < table.since {
				continue
			}

			last, _, err := tx.Int(table.last)
			if err != nil {
				return err
			}
			if err := c.checkCounter(tx, table.name, table.name, last); err != nil {
				return err
			}
		}

		return c.checkSequences(tx)
	})
}

// checkSequences finds numbers that SQLite counts and that have no room left, and a collector's state that is lost.
func (c *checker) checkSequences(tx *schema.Tx) error {
	rows := tx.Query(`SELECT name, seq FROM sqlite_sequence WHERE seq > ?`, schema.LastID)
	defer rows.Close()
	for rows.Next() {
		if err := c.fault(Fault{What: fmt.Sprintf("the numbers of table %s stand at %d", rows.Text(0), rows.Int(1))}); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}

	_, ok, err := tx.Int(`SELECT id FROM gc WHERE id = 1024 AND phase BETWEEN 0 AND 2 AND round BETWEEN 0 AND ?`, schema.LastID)
	if err == nil && !ok {
		err = c.fault(Fault{What: "the row of table gc is missing, or damaged"})
	}
	if err != nil {
		return err
	}

	if err := checkDoomed(tx); err != nil {
		return c.fault(Fault{What: err.Error()})
	}
	return nil
}

// checkDoomed fails with [schema.ErrCorrupt] if a sweep would take content that an inode names. Content that gains a
// reference while a collection runs is in the table touched before, and the sweep heeds that first.
func checkDoomed(db *schema.Tx) error {
	if _, some, err := db.Int(`SELECT id FROM doomed LIMIT 1`); err != nil || !some {
		return err
	}
	for kind, text := range map[int]string{
		hold.Blob: `SELECT id FROM doomed WHERE kind = 2 AND id IN (SELECT blob FROM inode WHERE blob IS NOT NULL)
			AND NOT EXISTS (SELECT 1 FROM touched t WHERE t.kind = 2 AND t.id = doomed.id)`,
		hold.Manifest: `SELECT id FROM doomed WHERE kind = 3 AND id IN (SELECT manifest FROM inode WHERE manifest IS NOT NULL)
			AND NOT EXISTS (SELECT 1 FROM touched t WHERE t.kind = 3 AND t.id = doomed.id)`,
	} {
		id, found, err := db.Int(text)
		if err == nil && found {
			err = schema.Corrupt("content %d of kind %d is in use, and doomed", id, kind)
		}
		if err != nil {
			return err
		}
	}
	return checkDoomedTerms(db)
}

// checkDoomedTerms is checkDoomed for the contents of conflicts.
func checkDoomedTerms(db *schema.Tx) error {
	rows := db.Query(`SELECT conflict FROM inode WHERE conflict IS NOT NULL`)
	defer rows.Close()
	for rows.Next() {
		for _, c := range node.Conflict(rows.Text(0)).Contents() {
			id, doomed, err := db.Int(`SELECT id FROM doomed WHERE (kind = 2 AND id = ?1 OR kind = 3 AND id = ?2)
				AND NOT EXISTS (SELECT 1 FROM touched t WHERE t.kind = doomed.kind AND t.id = doomed.id)`, c.Blob, c.Manifest)
			if err == nil && doomed {
				err = schema.Corrupt("content %d of a conflict is in use, and doomed", id)
			}
			if err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

package purge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"vfsdb/chunk"
	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// erase deletes the rows of the files in all moments, takes their contents out of the record, and records the purge.
func (p *plan) erase(tx *schema.Tx, fsys *vfs.FS, by *purger) error {
	tx.SetMemo(nil)
	inos := slices.Sorted(maps.Keys(p.inos))
	for _, ino := range inos {
		if err := p.eraseInode(tx, ino); err != nil {
			return err
		}
		if err := eraseNames(tx, ino); err != nil {
			return err
		}
	}

	var paths []string
	for _, t := range p.tombs {
		paths = append(paths, t.path)
	}
	forget := journal.Forgetting{Inos: inos, Paths: paths, Sums: p.sums, Repeats: by.needles.inText}
	for _, c := range p.shared {
		sum, err := chunk.SumOfContent(tx, c)
		if errors.Is(err, schema.ErrCorrupt) {
			continue
		}
		if err != nil {
			return err
		}
		forget.Keep = append(forget.Keep, sum)
	}
	var err error
	by.report.Changes, by.report.Calls, err = journal.Forget(tx, forget)
	if err != nil {
		return err
	}
	return p.bury(tx, (*tree.Tree)(fsys).Store().Journal(), by.o.Reason)
}

// eraseInode deletes the rows of an inode, and takes it off the queue of orphans.
func (p *plan) eraseInode(tx *schema.Tx, ino node.Ino) error {
	type row struct{ branch, died, born int64 }
	var list []row
	for _, branch := range p.branches {
		rows := tx.Query(`SELECT died, born FROM inode WHERE branch = ? AND ino = ?`, branch, int64(ino))
		for rows.Next() {
			list = append(list, row{branch, rows.Int(0), rows.Int(1)})
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	for _, r := range list {
		if _, err := tree.DeleteInode(tx, r.branch, ino, r.died, r.born); err != nil {
			return err
		}
	}

	var queued []int64
	rows := tx.Query(`SELECT seq FROM orphan WHERE ino = ?`, int64(ino))
	for rows.Next() {
		queued = append(queued, rows.Int(0))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, seq := range queued {
		if err := tree.DropOrphan(tx, seq); err != nil {
			return err
		}
	}
	return nil
}

// eraseNames takes an inode's names away. Where a branch reads through to others, the name becomes a whiteout: what these
// have under the name was not there before either.
func eraseNames(tx *schema.Tx, ino node.Ino) error {
	type row struct {
		branch     int64
		name       node.Name
		died, born int64
	}
	var list []row
	rows := tx.Query(`SELECT branch, parent, name, died, born FROM dirent WHERE ino = ?`, int64(ino))
	for rows.Next() {
		list = append(list, row{rows.Int(0), node.Name{Dir: node.Ino(rows.Int(1)), Base: rows.Text(2)}, rows.Int(3), rows.Int(4)})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, r := range list {
		through, _, err := tx.Int(`SELECT EXISTS (SELECT 1 FROM lineage l JOIN lineage d ON d.branch = l.branch AND d.level > l.level WHERE l.ancestor = ?)`, r.branch)
		if err != nil {
			return err
		}
		take := tree.DeleteDirent
		if through == 1 {
			take = tree.HideDirent
		}
		if _, err := take(tx, r.branch, r.name, r.died, r.born); err != nil {
			return err
		}
	}
	return nil
}

// bury records the purge of each path, on the branches that showed it.
func (p *plan) bury(tx *schema.Tx, record *journal.Journal, reason string) error {
	for _, t := range p.tombs {
		epoch, _, err := history.ReadBranch(tx, t.branch)
		if err != nil {
			return err
		}
		w := record.Writer(tx, t.branch, time.Now().UnixNano())
		if _, err := w.Append(epoch, journal.Change{Op: journal.OpPurge, Path: t.path, Arg: reason}); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// repack makes the packs anew that have bytes of blobs that are gone.
func (p *purger) repack(ctx context.Context, db *schema.DB) error {
	for after, done := int64(0), false; !done; {
		var packs []int64
		err := db.View(ctx, func(tx *schema.Tx) (err error) {
			packs, after, done, err = chunk.HollowPacks(tx, after, 1024)
			return err
		})
		if err != nil {
			return err
		}
		for _, pack := range packs {
			if err := db.Stage(ctx, func(tx *schema.Tx) error { return chunk.Repack(tx, pack) }); err != nil {
				return err
			}
			p.report.Packs++
			if err := p.tell("repack"); err != nil {
				return err
			}
		}
	}
	return nil
}

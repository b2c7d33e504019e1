package vfs

import (
	"context"
	"slices"
	"time"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// ReapStep is what one step of a reaper did, in one short transaction.
type ReapStep struct {
	Count int           // inodes, or rows, that went
	Held  time.Duration // how long the step held the write lock
	Done  bool          // nothing is left
}

// An OrphanReaper takes inodes without names off the heads of all branches, and below a directory whatever is in it. It
// goes in steps, between which anything may happen: each step looks again whether an orphan is still one, since a
// restore may have given it back its name. What goes, goes now: at the branch's present epoch, as if it were removed by
// hand, so snapshots and branches that show it still do.
type OrphanReaper struct {
	store   *store
	through int64         // the newest orphan that is ours to reap
	trees   map[int64]*FS // heads, by branch
	at      reapPlace
}

// A reapPlace is how far an OrphanReaper has come.
type reapPlace struct {
	after int64     // this orphan and those before it are done with
	seq   int64     // of the directory that path leads into; 0 if there is none
	path  []reapDir // from the orphan down to where we are
}

// A reapDir is a directory on the way.
type reapDir struct {
	dir   Ino
	base  string // its name in the directory above
	after string // names up to this one are gone
}

// NewOrphanReaper returns a reaper of the orphans up to the number through. All files that were open when that was
// the newest orphan must have been published by now, see PublishPins; those that are open are left alone.
func (fsys *FS) NewOrphanReaper(through int64) *OrphanReaper {
	return &OrphanReaper{store: fsys.store, through: through, trees: make(map[int64]*FS)}
}

// NewestOrphan returns the number of the orphan that was queued last; 0 if none is queued.
func NewestOrphan(db *schema.Tx) (int64, error) {
	seq, _, err := db.Int(`SELECT max(seq) FROM orphan`)
	return seq, err
}

// Step reaps up to limit inodes and entries. It is durable as soon as a later commit is, see [schema.DB.Stage].
func (r *OrphanReaper) Step(ctx context.Context, limit int) (step ReapStep, err error) {
	err = r.store.db.View(ctx, func(db *schema.Tx) error {
		_, found, err := db.Int(`SELECT seq FROM orphan WHERE seq > ? AND seq <= ? LIMIT 1`, r.at.after, r.through)
		step.Done = !found
		return err
	})
	if err != nil || step.Done {
		return step, err
	}
	var began time.Time
	var run reapRun
	err = r.store.db.Stage(ctx, func(db *schema.Tx) error {
		began = time.Now()
		run = reapRun{OrphanReaper: r, db: db, budget: limit, txs: make(map[int64]*Tx), at: r.at}
		run.at.path = slices.Clone(r.at.path)
		return run.reap()
	})
	if err != nil {
		return ReapStep{}, err
	}
	r.at = run.at
	return ReapStep{Count: run.count, Held: time.Since(began), Done: run.done}, nil
}

// A reapRun is one step: the transaction, and what it has found out.
type reapRun struct {
	*OrphanReaper
	db     *schema.Tx
	budget int
	count  int
	done   bool
	txs    map[int64]*Tx
	open   map[branchIno]bool // some process has them open
	later  map[branchIno]bool // queued once more, after through
	at     reapPlace
}

type branchIno struct {
	branch int64
	ino    Ino
}

func (r *reapRun) reap() (err error) {
	if r.open, err = readInos(r.db, `SELECT branch, id FROM pin WHERE kind = ?`, chunk.PinInode); err != nil {
		return err
	}
	// An inode that got a name back and lost it again may have been opened in between. Its later entry counts.
	if r.later, err = readInos(r.db, `SELECT branch, ino FROM orphan WHERE seq > ?`, r.through); err != nil {
		return err
	}
	for r.budget > 0 && !r.done {
		if err := r.next(); err != nil {
			return err
		}
	}
	for _, tx := range r.txs {
		if err := tx.flush(); err != nil {
			return err
		}
	}
	return nil
}

func readInos(db *schema.Tx, text string, arg int64) (map[branchIno]bool, error) {
	set := make(map[branchIno]bool)
	rows := db.Query(text, arg)
	for rows.Next() {
		set[branchIno{rows.Int(0), Ino(rows.Int(1))}] = true
	}
	return set, rows.Err()
}

// next deals with the first orphan that is left.
func (r *reapRun) next() error {
	rows := r.db.Query(`SELECT seq, branch, ino FROM orphan WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT 1`, r.at.after, r.through)
	if !rows.Next() {
		r.done = true
		return rows.Err()
	}
	seq, id := rows.Int(0), branchIno{rows.Int(1), Ino(rows.Int(2))}
	if err := rows.Close(); err != nil {
		return err
	}
	if seq <= r.at.after {
		return corrupt("rows of table orphan are out of order: %d comes after %d", seq, r.at.after)
	}
	tx, err := r.tx(id.branch)
	if err != nil {
		return err
	}
	if tx == nil || r.later[id] {
		return r.leave(seq)
	}
	n, err := tx.inode(id.ino)
	switch {
	case err != nil:
		return err
	case n == nil || n.nlink > 0:
		return r.leave(seq)
	case r.open[id]:
		r.budget--
		r.at.after = seq // it stays in the queue
		return nil
	case n.isDir():
		if r.at.seq != seq {
			r.at.seq, r.at.path = seq, []reapDir{{dir: n.ino}}
		}
		if empty, err := r.empty(tx); !empty || err != nil {
			return err
		}
	}
	r.count++
	if err := tx.dropInode(n); err != nil {
		return err
	}
	return r.leave(seq)
}

// leave takes an orphan off the queue.
func (r *reapRun) leave(seq int64) error {
	r.budget--
	r.at = reapPlace{after: seq}
	n, err := r.db.Exec(`DELETE FROM orphan WHERE seq = ?`, seq)
	return foundRow(n, err, "orphan", seq)
}

// tx returns the Tx of a branch's head; nil if the branch was dropped, whose rows go all at once.
func (r *reapRun) tx(branch int64) (*Tx, error) {
	if tx := r.txs[branch]; tx != nil {
		return tx, nil
	}
	_, named, err := readBranch(r.db, branch)
	if err != nil || !named {
		return nil, err
	}
	tree := r.trees[branch]
	if tree == nil {
		if tree, err = r.store.stand(r.db, Moment{branch, schema.Head}); err != nil {
			return nil, err
		}
		r.trees[branch] = tree
	}
	tx, err := tree.begin(r.db)
	if err != nil {
		return nil, err
	}
	r.txs[branch] = tx
	return tx, nil
}

// empty takes away what is in the directory that the path starts with, depth first, and reports whether all of it is
// gone.
func (r *reapRun) empty(tx *Tx) (bool, error) {
	if err := r.retrace(tx); err != nil {
		return false, err
	}
	for r.budget > 0 {
		here := &r.at.path[len(r.at.path)-1]
		page, err := tx.page(here.dir, here.after, min(r.budget, pageSize))
		switch {
		case err != nil:
			return false, err
		case len(page) > 0:
			if err := r.entries(tx, page); err != nil {
				return false, err
			}
		case here.after != "":
			here.after = "" // a tree that OpenRoot opened down here may have made names that we have passed
		case len(r.at.path) == 1:
			return true, nil
		default:
			if err := r.up(tx); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// retrace makes sure that the path still leads where it did: a restore may have moved a directory out of the tree.
func (r *reapRun) retrace(tx *Tx) error {
	path := r.at.path
	for i := 1; i < len(path); i++ {
		d, err := tx.lookup(path[i-1].dir, path[i].base)
		if err != nil {
			return err
		}
		if d.ino != path[i].dir || d.kind != kindDir {
			r.at.path = []reapDir{{dir: path[0].dir}}
			return nil
		}
	}
	return nil
}

// entries takes away a page of entries, up to the first that is a directory, which is entered.
func (r *reapRun) entries(tx *Tx, page []listed) error {
	here := &r.at.path[len(r.at.path)-1]
	for _, e := range page {
		r.budget--
		if e.kind == kindDir {
			if slices.ContainsFunc(r.at.path, func(d reapDir) bool { return d.dir == e.ino }) {
				return corrupt("directory %d lies below itself", e.ino)
			}
			r.at.path = append(r.at.path, reapDir{dir: e.ino, base: e.name})
			return nil
		}
		if err := r.entry(tx, here.dir, e); err != nil {
			return err
		}
		here.after = e.name
	}
	return nil
}

// entry takes away one name, and what it leads to unless that has another name, or is open.
func (r *reapRun) entry(tx *Tx, dir Ino, e listed) error {
	n, err := tx.inode(e.ino)
	if err != nil {
		return err
	}
	if n == nil {
		return corrupt("entry %q of directory %d shows inode %d, which is missing", e.name, dir, e.ino)
	}
	if err := tx.dropDirent(dir, e.name); err != nil {
		return err
	}
	if n.nlink > 1 || r.open[branchIno{tx.fsys.at.Branch, n.ino}] {
		return tx.unref(n)
	}
	r.count++
	return tx.dropInode(n)
}

// up removes the directory at the end of the path, which is empty.
func (r *reapRun) up(tx *Tx) error {
	last := len(r.at.path) - 1
	gone := r.at.path[last]
	r.at.path = r.at.path[:last]
	above := &r.at.path[last-1]
	above.after = gone.base
	n, err := tx.inode(gone.dir)
	if err != nil {
		return err
	}
	if n == nil {
		return corrupt("entry %q of directory %d shows inode %d, which is missing", gone.base, above.dir, gone.dir)
	}
	r.budget--
	if err := tx.dropDirent(above.dir, gone.base); err != nil {
		return err
	}
	if r.open[branchIno{tx.fsys.at.Branch, n.ino}] {
		return tx.unref(n)
	}
	r.count++
	return tx.dropInode(n)
}

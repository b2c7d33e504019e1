package vfs

import (
	"context"
	"slices"
	"time"

	"vfsdb/hold"
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

	later map[branchIno]bool // queued once more, after through
	seen  int64              // the newest of those
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
func NewOrphanReaper(fsys *FS, through int64) *OrphanReaper {
	return &OrphanReaper{store: fsys.store, through: through, seen: through, trees: make(map[int64]*FS), later: make(map[branchIno]bool)}
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
	open   map[branchIno]bool // some process has them open; nil if they are many, and each is looked up
	at     reapPlace
}

func (r *reapRun) reap() (err error) {
	if err := r.readOpen(); err != nil {
		return err
	}
	if err := r.readLater(); err != nil {
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

// fewOpen is how many open inodes a step reads at once. Of more it looks up those that it comes to: else a step would
// cost as much as there are open files, and so would each of the many steps that these take.
const fewOpen = 256

// readOpen reads which inodes some process has open, if they are few.
func (r *reapRun) readOpen() error {
	open := make(map[branchIno]bool)
	rows := r.db.Query(`SELECT p.branch, p.id FROM lease l CROSS JOIN pin p WHERE p.lease = l.id AND p.kind = ? LIMIT ?`, hold.Inode, fewOpen+1)
	for rows.Next() {
		open[branchIno{rows.Int(0), Ino(rows.Int(1))}] = true
	}
	if len(open) <= fewOpen {
		r.open = open
	}
	return rows.Err()
}

// isOpen reports whether some process has an inode open.
func (r *reapRun) isOpen(id branchIno) (bool, error) {
	if r.open != nil {
		return r.open[id], nil
	}
	_, found, err := r.db.Int(pinOfInode, hold.Inode, id.branch, int64(id.ino))
	return found, err
}

// pinOfInode looks an inode up in the pins of each lease, of which there is one for each process. Without CROSS the
// planner may go over all pins.
const pinOfInode = `SELECT 1 FROM lease l CROSS JOIN pin p WHERE p.lease = l.id AND p.kind = ? AND p.branch = ? AND p.id = ? LIMIT 1`

// readLater reads which inodes were queued since the last step. One that got a name back and lost it again may have
// been opened in between: its later entry counts.
func (r *reapRun) readLater() error {
	var order schema.Ascent
	rows := r.db.Query(`SELECT seq, branch, ino FROM orphan WHERE seq > ? ORDER BY seq`, r.seen)
	for rows.Next() {
		if err := order.To("orphan", rows.Int(0)); err != nil {
			rows.Close()
			return err
		}
		r.seen = rows.Int(0)
		r.later[branchIno{rows.Int(1), Ino(rows.Int(2))}] = true
	}
	return rows.Err()
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
	}
	open, err := r.isOpen(id)
	switch {
	case err != nil:
		return err
	case open:
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
	return dropOrphan(r.db, seq)
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
	head := r.trees[branch]
	if head == nil {
		if head, err = r.store.stand(r.db, Moment{branch, schema.Head}); err != nil {
			return nil, err
		}
		r.trees[branch] = head
	}
	tx, err := head.begin(r.db)
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

// entries takes away a page of entries, up to the first that is a directory, to go into.
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
	n, err := tx.nodeOf(dir, e)
	if err != nil {
		return err
	}
	if err := tx.dropDirent(dir, e.name); err != nil {
		return err
	}
	return r.nameless(tx, n)
}

// nameless takes away an inode that has lost a name, unless it has another one, or is open.
func (r *reapRun) nameless(tx *Tx, n *inode) error {
	open, err := r.isOpen(branchIno{tx.fsys.at.Branch, n.ino})
	if err != nil {
		return err
	}
	if n.nlink > 1 || open {
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
	n, err := tx.nodeOf(above.dir, listed{gone.base, gone.dir, kindDir})
	if err != nil {
		return err
	}
	r.budget--
	if err := tx.dropDirent(above.dir, gone.base); err != nil {
		return err
	}
	return r.nameless(tx, n)
}

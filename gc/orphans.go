package gc

import (
	"context"
	"slices"
	"time"

	"vfsdb/history"
	"vfsdb/hold"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// A ReapStep is the outcome of one step of a reaper, in one short transaction.
type ReapStep struct {
	Count int           // inodes or rows that were reaped
	Held  time.Duration // how long the step held the write lock
	Done  bool          // nothing is left
}

// An OrphanReaper removes inodes without names from the heads of all branches, with everything below them. It works in
// steps, and others may write between two of them: each step checks again that an orphan is one, because a restore may
// have given it a name. An orphan is removed in the branch's present epoch, as if by hand, so snapshots and branches
// that show it still do.
type OrphanReaper struct {
	store   *tree.Store
	through int64                // the newest orphan to reap
	trees   map[int64]*tree.Tree // heads, by branch
	at      reapPlace

	later map[memory.BranchIno]bool // queued once more, after through
	seen  int64                     // the newest of those
}

// A reapPlace is how far an OrphanReaper has come.
type reapPlace struct {
	after int64     // this orphan and those before it are done
	seq   int64     // of the directory that path leads into; 0 if there is none
	path  []reapDir // from the orphan down to the present place
}

// A reapDir is a directory on the way.
type reapDir struct {
	dir   node.Ino
	base  string // its name in the directory above
	after string // names up to this one are gone
}

// NewOrphanReaper returns a reaper of the orphans up to the number through. All files that were open when that was
// the newest orphan must have been published, see PublishPins. Inodes of open files are left alone.
func NewOrphanReaper(fsys *tree.Tree, through int64) *OrphanReaper {
	return &OrphanReaper{store: fsys.Store(), through: through, seen: through, trees: make(map[int64]*tree.Tree), later: make(map[memory.BranchIno]bool)}
}

// Step reaps up to limit inodes and entries. It is durable as soon as a later commit is, see [schema.DB.Stage].
func (r *OrphanReaper) Step(ctx context.Context, limit int) (step ReapStep, err error) {
	err = r.store.DB().View(ctx, func(db *schema.Tx) error {
		_, found, err := db.Int(`SELECT seq FROM orphan WHERE seq > ? AND seq <= ? LIMIT 1`, r.at.after, r.through)
		step.Done = !found
		return err
	})
	if err != nil || step.Done {
		return step, err
	}

	var began time.Time
	var run reapRun
	err = r.store.DB().Stage(ctx, func(db *schema.Tx) error {
		began = time.Now()
		run = reapRun{OrphanReaper: r, db: db, budget: limit, txs: make(map[int64]*tree.Tx), at: r.at}
		run.at.path = slices.Clone(r.at.path)
		return run.reap()
	})
	if err != nil {
		return ReapStep{}, err
	}
	r.at = run.at
	return ReapStep{Count: run.count, Held: time.Since(began), Done: run.done}, nil
}

// A reapRun is one step: its transaction, and what it has read.
type reapRun struct {
	*OrphanReaper
	db     *schema.Tx
	budget int
	count  int
	done   bool
	txs    map[int64]*tree.Tx
	open   map[memory.BranchIno]bool // open in some process; nil if they are many, and each is looked up
	at     reapPlace
}

// reap reaps orphans until the budget is spent.
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
		if err := tx.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// fewOpen is how many open inodes a step reads at once. If there are more, it looks up each inode that it reaches.
// Otherwise each of the many steps would read all open files.
const fewOpen = 256

// readOpen reads which inodes some process has open, if they are few.
func (r *reapRun) readOpen() error {
	open := make(map[memory.BranchIno]bool)
	rows := r.db.Query(`SELECT p.branch, p.id FROM lease l CROSS JOIN pin p WHERE p.lease = l.id AND p.kind = ? LIMIT ?`, hold.Inode, fewOpen+1)
	for rows.Next() {
		open[memory.BranchIno{Branch: rows.Int(0), Ino: node.Ino(rows.Int(1))}] = true
	}
	if len(open) <= fewOpen {
		r.open = open
	}
	return rows.Err()
}

// isOpen reports whether some process has an inode open.
func (r *reapRun) isOpen(id memory.BranchIno) (bool, error) {
	if r.open != nil {
		return r.open[id], nil
	}
	_, found, err := r.db.Int(pinOfInode, hold.Inode, id.Branch, int64(id.Ino))
	return found, err
}

// pinOfInode looks up an inode in the pins of each lease; a process has one lease. Without CROSS the planner may read
// all pins.
const pinOfInode = `SELECT 1 FROM lease l CROSS JOIN pin p WHERE p.lease = l.id AND p.kind = ? AND p.branch = ? AND p.id = ? LIMIT 1`

// readLater reads which inodes were queued since the last step. An inode that got a name back and lost it again may
// have been opened in between, so its later entry counts.
func (r *reapRun) readLater() error {
	var order schema.Ascent
	rows := r.db.Query(`SELECT seq, branch, ino FROM orphan WHERE seq > ? ORDER BY seq`, r.seen)
	for rows.Next() {
		if err := order.To("orphan", rows.Int(0)); err != nil {
			rows.Close()
			return err
		}
		r.seen = rows.Int(0)
		r.later[memory.BranchIno{Branch: rows.Int(1), Ino: node.Ino(rows.Int(2))}] = true
	}
	return rows.Err()
}

// next reaps the first orphan that is left, or takes it off the queue.
func (r *reapRun) next() error {
	rows := r.db.Query(`SELECT seq, branch, ino FROM orphan WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT 1`, r.at.after, r.through)
	if !rows.Next() {
		r.done = true
		return rows.Err()
	}
	seq, id := rows.Int(0), memory.BranchIno{Branch: rows.Int(1), Ino: node.Ino(rows.Int(2))}
	if err := rows.Close(); err != nil {
		return err
	}
	if seq <= r.at.after {
		return schema.Corrupt("rows of table orphan are out of order: %d comes after %d", seq, r.at.after)
	}

	// An orphan that has a name again only leaves the queue.
	tx, err := r.tx(id.Branch)
	if err != nil {
		return err
	}
	if tx == nil || r.later[id] {
		return r.leave(seq)
	}
	n, err := tx.Node(id.Ino)
	switch {
	case err != nil:
		return err
	case n == nil || n.Nlink > 0:
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
	case n.IsDir():
		if r.at.seq != seq {
			r.at.seq, r.at.path = seq, []reapDir{{dir: n.Ino}}
		}
		if empty, err := r.empty(tx); !empty || err != nil {
			return err
		}
	}

	r.count++
	if err := tx.DropInode(n); err != nil {
		return err
	}
	return r.leave(seq)
}

// leave takes an orphan off the queue.
func (r *reapRun) leave(seq int64) error {
	r.budget--
	r.at = reapPlace{after: seq}
	return tree.DropOrphan(r.db, seq)
}

// tx returns the Tx of a branch's head, or nil if the branch was dropped: its rows are deleted all at once.
func (r *reapRun) tx(branch int64) (*tree.Tx, error) {
	if tx := r.txs[branch]; tx != nil {
		return tx, nil
	}
	_, named, err := history.ReadBranch(r.db, branch)
	if err != nil || !named {
		return nil, err
	}

	head := r.trees[branch]
	if head == nil {
		if head, err = r.store.Stand(r.db, history.Moment{Branch: branch, Epoch: schema.Head}); err != nil {
			return nil, err
		}
		r.trees[branch] = head
	}

	tx, err := head.Begin(r.db)
	if err != nil {
		return nil, err
	}
	r.txs[branch] = tx
	return tx, nil
}

// empty removes everything in the directory at the start of the path, depth first, and reports whether it is done.
func (r *reapRun) empty(tx *tree.Tx) (bool, error) {
	if err := r.retrace(tx); err != nil {
		return false, err
	}

	for r.budget > 0 {
		here := &r.at.path[len(r.at.path)-1]
		page, err := tx.Page(here.dir, here.after, min(r.budget, tree.PageSize))
		switch {
		case err != nil:
			return false, err
		case len(page) > 0:
			if err := r.entries(tx, page); err != nil {
				return false, err
			}
		case here.after != "":
			here.after = "" // a tree that OpenRoot opened in here may have made names behind us
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

// retrace checks the path, because a restore may have moved a directory out of it. If so, it starts at the top.
func (r *reapRun) retrace(tx *tree.Tx) error {
	path := r.at.path
	for i := 1; i < len(path); i++ {
		d, err := tx.Lookup(path[i-1].dir, path[i].base)
		if err != nil {
			return err
		}
		if d.Ino != path[i].dir || d.Kind != node.KindDir {
			r.at.path = []reapDir{{dir: path[0].dir}}
			return nil
		}
	}
	return nil
}

// entries removes a page of entries, up to the first directory, and goes into that.
func (r *reapRun) entries(tx *tree.Tx, page []node.Entry) error {
	here := &r.at.path[len(r.at.path)-1]
	for _, e := range page {
		r.budget--
		if e.Kind == node.KindDir {
			if slices.ContainsFunc(r.at.path, func(d reapDir) bool { return d.dir == e.Ino }) {
				return schema.Corrupt("directory %d lies below itself", e.Ino)
			}
			r.at.path = append(r.at.path, reapDir{dir: e.Ino, base: e.Name})
			return nil
		}
		if err := r.entry(tx, here.dir, e); err != nil {
			return err
		}
		here.after = e.Name
	}
	return nil
}

// entry removes one name, and its inode unless that has another name or is open.
func (r *reapRun) entry(tx *tree.Tx, dir node.Ino, e node.Entry) error {
	n, err := tx.NodeOf(dir, e)
	if err != nil {
		return err
	}
	if err := tx.DropDirent(dir, e.Name); err != nil {
		return err
	}
	return r.nameless(tx, n)
}

// nameless removes an inode that has lost a name, unless it has another one or is open.
func (r *reapRun) nameless(tx *tree.Tx, n *node.Node) error {
	open, err := r.isOpen(memory.BranchIno{Branch: tx.Tree().Moment().Branch, Ino: n.Ino})
	if err != nil {
		return err
	}
	if n.Nlink > 1 || open {
		return tx.Unref(n)
	}
	r.count++
	return tx.DropInode(n)
}

// up removes the directory at the end of the path, which is empty.
func (r *reapRun) up(tx *tree.Tx) error {
	last := len(r.at.path) - 1
	gone := r.at.path[last]
	r.at.path = r.at.path[:last]
	above := &r.at.path[last-1]
	above.after = gone.base

	n, err := tx.NodeOf(above.dir, node.Entry{Name: gone.base, Ino: gone.dir, Kind: node.KindDir})
	if err != nil {
		return err
	}
	r.budget--
	if err := tx.DropDirent(above.dir, gone.base); err != nil {
		return err
	}
	return r.nameless(tx, n)
}

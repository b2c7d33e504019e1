package tree

import (
	"io/fs"
	"maps"
	"slices"
	"syscall"
	"time"

	"vfsdb/chunk"
	"vfsdb/history"
	"vfsdb/hold"
	"vfsdb/journal"
	"vfsdb/memory"
	"vfsdb/node"
	"vfsdb/schema"
)

// A Tx is one transaction on a tree. Its operations work on inodes and places by number; it takes no path apart. It is
// used by one goroutine, and only inside the closure that received it.
type Tx struct {
	db   *schema.Tx
	tree *Tree
	now  int64 // the time of every change of this transaction, in ns
	gc   bool  // a collection runs: references to content are recorded for it

	mem memory.Memory // what it knows of the tree

	others []*Tx           // of On
	folds  *folds          // those of the whole call; nil if it only reads
	log    *journal.Writer // records its changes; nil if it only reads
	waits  bool            // flush runs before the commit
	above  string          // where the root of the tree stands in the branch; "" before it is needed
	moves  int             // that the cache had counted when above was found
}

// DB returns the transaction of the file, for rooms that keep rows of their own in it.
func (tx *Tx) DB() *schema.Tx { return tx.db }

// Moment returns where in history the tree of the transaction stands.
func (tx *Tx) Moment() history.Moment { return tx.tree.at }

// Begin makes the Tx of the tree on a transaction of the file.
func (t *Tree) Begin(db *schema.Tx) (*Tx, error) {
	tx := &Tx{db: db, tree: t, mem: t.store.memory.Begin(db, t.at)}
	if db.Writable() && t.Frozen() {
		tx.mem.Own.Branch.Known = false // this very connection may have deleted the snapshot
	}
	if err := tx.checkBranch(); err != nil {
		return nil, err
	}
	if !db.Writable() {
		return tx, nil
	}
	tx.now = time.Now().UnixNano()
	tx.gc = tx.mem.Own.Branch.Collecting
	tx.log = t.store.journal.Writer(db, t.at.Branch, tx.now)
	return tx, nil
}

// epoch returns the epoch of the head, in which new rows are born. It is not the Tx's own, since any Tx on the head may
// end it.
func (tx *Tx) epoch() int64 { return tx.mem.Own.Branch.Epoch }

// checkBranch refuses a tree that nothing keeps any more, and finds out whether a collection runs. Both are cached until
// another connection commits. A drop of a branch on this connection, and the begin of a collection, clear that.
func (tx *Tx) checkBranch() error {
	switch {
	case tx.tree.held && !tx.tree.loose && !tx.db.Writable(): // it is kept, and that must not be cached for others
		return nil
	case tx.mem.TreeKnown():
		return nil
	}

	at := tx.tree.at
	epoch, named, err := history.ReadBranch(tx.db, at.Branch)
	if err != nil {
		return err
	}
	switch {
	case tx.tree.loose:
		named, err = history.Whole(tx.db, at)
	case tx.tree.held:
		named = true
	case tx.tree.Frozen():
		named, err = history.Kept(tx.db, at)
	}
	if err != nil {
		return err
	}
	if !named {
		return syscall.ESTALE
	}

	collecting, step := false, int64(0)
	if tx.db.Writable() {
		if epoch < schema.FirstEpoch || epoch >= schema.Head {
			return schema.Corrupt("branch %d is in epoch %d", at.Branch, epoch)
		}
		if collecting, err = hold.Collecting(tx.db); err != nil {
			return err
		}
		if step, err = journal.StepOf(tx.db, at.Branch, epoch); err != nil {
			return err
		}
	}
	tx.mem.PutTree(memory.BranchState{Known: true, Epoch: epoch, Collecting: collecting, Step: step})
	return nil
}

// Sub is the transaction on a directory of its tree.
func (tx *Tx) Sub(t *Tree) *Tx {
	sub := *tx
	sub.tree = t
	return &sub
}

// Missed reports whether a transaction that Cached returned has asked for something that is not cached.
func (tx *Tx) Missed() bool { return tx.db.Missed() }

// Writable refuses writes through a tree of the past, and through a transaction that only reads, or has ended: what
// that one changed in memory would be written by another.
func (tx *Tx) Writable() error {
	switch {
	case tx.tree.Frozen() || !tx.db.Writable():
		return syscall.EROFS
	case tx.db.Ended():
		return fs.ErrClosed
	}
	return nil
}

// Flush writes the inodes that were changed in memory. It runs before the commit, for all verbs that share one, and
// before SQL that reads inodes.
func (tx *Tx) Flush() error {
	if tx.mem.Own == nil || len(tx.mem.Own.Dirty) == 0 {
		return nil
	}
	if err := tx.putDirty(); err != nil {
		return err
	}
	tx.Trim()
	return nil
}

// putDirty is Flush for a caller that holds inodes to change them.
func (tx *Tx) putDirty() error {
	for _, ino := range slices.Sorted(maps.Keys(tx.mem.Own.Dirty)) {
		if err := tx.putInode(tx.mem.Own.Dirty[ino]); err != nil {
			return err
		}
	}
	clear(tx.mem.Own.Dirty)
	return nil
}

// end writes the changes that wait in memory, those of On first. It runs last.
func (tx *Tx) end() error {
	for _, on := range tx.others {
		if err := on.end(); err != nil {
			return err
		}
	}
	return tx.log.Flush()
}

// touchAll is touch for all content that a node names.
func (tx *Tx) touchAll(n *node.Node) error {
	if err := tx.touch(n.Content); err != nil || !tx.gc || n.Conflict == "" {
		return err
	}
	return n.Conflict.Touch(tx.db)
}

// touch records that content gained a reference, if a collection runs.
func (tx *Tx) touch(c chunk.Content) error {
	if !tx.gc {
		return nil
	}
	return chunk.Touch(tx.db, c)
}

// GrownSince bounds how much the branch grew since an event, including what the transaction has done so far, see
// [journal.Growth]. It leaves out files that shrank. The growth since an event that has not happened yet is Unknown.
func (tx *Tx) GrownSince(seq int64) (journal.Growth, error) {
	if err := tx.Flush(); err != nil {
		return journal.Growth{}, err
	}
	if err := tx.log.Flush(); err != nil {
		return journal.Growth{}, err
	}
	return journal.GrownSince(tx.db, tx.tree.at.Branch, seq)
}

// Tree returns the tree that the transaction is on.
func (tx *Tx) Tree() *Tree { return tx.tree }

// On is this transaction on another tree of the same store, so that two trees are compared, and one of them changed, in
// one commit. It ends with tx. A tree of another store is EXDEV.
func (tx *Tx) On(other *Tree) (*Tx, error) {
	if other.store != tx.tree.store {
		return nil, syscall.EXDEV
	}
	if err := tx.Flush(); err != nil {
		return nil, err
	}
	on, err := other.Begin(tx.db)
	if err == nil {
		on.folds = tx.folds
		tx.others = append(tx.others, on)
	}
	return on, err
}

// Trim bounds the memory of a transaction that reads a large tree: it drops clean entries from the cache of the transaction
// when there are too many. A caller that holds an inode to change it must not call Trim.
func (tx *Tx) Trim() { tx.mem.Trim() }

// Slot returns the value that a room keeps in the store under a key of its own, see [slots].
func (tx *Tx) Slot(key any, make func() any) any { return tx.tree.store.slots.slot(key, make) }

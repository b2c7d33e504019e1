package vfs

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"syscall"
	"time"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/journal"
	"vfsdb/schema"
)

// A Tx is one transaction on a tree. It has the verbs of [os.Root]; a path is relative to the root of the tree whether
// or not it starts with a slash. It is used by one goroutine, and only inside the closure that received it.
type Tx struct {
	db    *schema.Tx
	fsys  *FS
	now   int64  // the time of every change of this transaction, in ns
	gc    bool   // a collection runs: references to content are recorded for it
	era   *era   // of what it sees; nil if it writes, or that is not known
	cache *cache // where era is nil
	news  *news  // what it writes, where facts are to hold on

	others []*Tx          // of On
	folds  *folds         // of the call that it is part of; nil if it only reads
	log    journal.Writer // where it writes
	waits  bool           // flush runs before the commit
	above  string         // where the root of the tree stands in the branch; "" before it is needed
	moves  int            // that the cache had counted when above was found
}

// DB returns the transaction of the file, for rooms that keep rows of their own in it.
func (tx *Tx) DB() *schema.Tx { return tx.db }

// Moment returns where in history the tree of the transaction stands.
func (tx *Tx) Moment() Moment { return tx.fsys.at }

// View runs fn on the transaction itself. So a Tx can stand wherever one moment is asked for, as an [FS] can for the
// moment of each call. fn is not run once ctx has ended.
func (tx *Tx) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fn(tx)
}

// begin makes the Tx of fsys on a transaction of the file.
func (fsys *FS) begin(db *schema.Tx) (*Tx, error) {
	tx := &Tx{db: db, fsys: fsys, cache: nothing}
	if tx.era = fsys.store.facts.of(db, fsys.store.db); tx.era == nil {
		tx.cache = cacheOf(db, fsys.at)
	}
	if db.Writable() && fsys.Frozen() {
		tx.cache.branch.known = false // this very connection may have deleted the snapshot
	}
	if err := tx.checkBranch(); err != nil {
		return nil, err
	}
	if !db.Writable() {
		return tx, nil
	}
	tx.news, _ = db.Local(newsKey{}).(*news)
	tx.now = time.Now().UnixNano()
	tx.gc = tx.cache.branch.gc
	tx.log = fsys.store.journal.Writer(db, fsys.at.Branch, tx.now)
	return tx, nil
}

// epoch returns that of the head: what is written now is born in it. It is not the Tx's own, since any Tx on the head
// may end it.
func (tx *Tx) epoch() int64 { return tx.cache.branch.epoch }

// checkBranch refuses a tree that nothing keeps any more, and finds out whether a collection runs. Both are remembered
// until another connection commits. Whoever drops a branch, or begins a collection, on this one makes it forget that.
func (tx *Tx) checkBranch() error {
	at, b := tx.fsys.at, &tx.cache.branch
	if tx.era != nil {
		if _, known := tx.fsys.store.facts.trees.get(tx.era, at); known {
			return nil
		}
	} else if b.known {
		return nil
	}
	epoch, named, err := readBranch(tx.db, at.Branch)
	if err != nil {
		return err
	}
	if tx.fsys.Frozen() {
		if named, err = momentKept(tx.db, at); err != nil {
			return err
		}
	}
	if !named {
		return syscall.ESTALE
	}
	if tx.era != nil {
		tx.fsys.store.facts.trees.put(tx.era, at, struct{}{})
		return nil
	}
	collecting := false
	if tx.db.Writable() {
		if epoch < schema.FirstEpoch || epoch >= schema.Head {
			return corrupt("branch %d is in epoch %d", at.Branch, epoch)
		}
		if collecting, err = hold.Collecting(tx.db); err != nil {
			return err
		}
	}
	b.known, b.epoch, b.gc = true, epoch, collecting
	return nil
}

// writable refuses writes through a tree of the past, and through a transaction that only reads, or has ended: what
// that one changed in memory would be written by another.
func (tx *Tx) writable() error {
	switch {
	case tx.fsys.Frozen() || !tx.db.Writable():
		return syscall.EROFS
	case tx.db.Ended():
		return fs.ErrClosed
	}
	return nil
}

// flush writes the inodes that were changed in memory. It runs before the commit, for all verbs that share one, and
// before SQL that reads inodes.
func (tx *Tx) flush() error {
	if len(tx.cache.dirty) == 0 {
		return nil
	}
	for _, ino := range slices.Sorted(maps.Keys(tx.cache.dirty)) {
		if err := tx.putInode(tx.cache.dirty[ino]); err != nil {
			return err
		}
	}
	clear(tx.cache.dirty)
	tx.cache.trim()
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

// touch records that content gained a reference, if a collection runs.
func (tx *Tx) touch(c chunk.Content) error {
	if !tx.gc {
		return nil
	}
	return chunk.Touch(tx.db, c)
}

// GrownSince bounds how much the branch grew since an event, see [Growth], what the transaction has done so far included.
// What shrank is left out. An event that is not there yet is Unknown.
func (tx *Tx) GrownSince(seq int64) (Growth, error) {
	if err := tx.flush(); err != nil {
		return Growth{}, err
	}
	if err := tx.log.Flush(); err != nil {
		return Growth{}, err
	}
	return journal.GrownSince(tx.db, tx.fsys.at.Branch, seq)
}

package tree

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"

	"vfsdb/memory"

	"vfsdb/chunk"
	"vfsdb/history"
	"vfsdb/hold"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
)

// A Tree is one tree of a store: the head of a branch, which can be written, or a past moment, which refuses writes with
// EROFS. It is safe for concurrent use, by any number of goroutines and processes.
type Tree struct {
	store   *Store
	at      history.Moment
	branch  string          // the branch's name when the FS was made; "" for a past moment
	levels  []history.Level // the lineage that reads go through, nearest first; constant
	filters []*levelFilter  // of the levels
	settled bool            // the lineage is committed
	root    node.Ino
	name    string
	owner   bool // made by Open: Close closes the store
}

// A Store is one open file, shared by every FS that stands on it.
type Store struct {
	db       *schema.DB
	lease    *hold.Lease
	cache    *chunk.Cache
	compress bool
	memory   *memory.Shared
	inodes   memory.OpenInodes // that handles have open
	slots    slots

	closed atomic.Bool

	opening sync.RWMutex // held to read while a file is opened; the publisher waits until all are registered
	mu      sync.Mutex
	handles map[*Handle]hold.Pin // what open files need kept, beyond the names that lead there

	journal *journal.Journal

	filters levelFilters
}

// Open opens the store in a file.
func Open(ctx context.Context, path string, o schema.Options, compress bool) (*Store, error) {
	db, err := schema.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	st := &Store{
		db: db, cache: chunk.NewCache(), compress: compress, journal: journal.New(db),
		handles: make(map[*Handle]hold.Pin),
	}
	st.memory = memory.New(db)
	db.OnCommit(st.memory.Committed)
	st.lease = hold.NewLease(db, st.pins, NewestOrphan)
	return st, nil
}

// Close closes the store, after the transactions that are running.
func (st *Store) Close() error {
	st.closed.Store(true)
	st.journal.Close()
	err := errors.Join(st.lease.Close(), st.db.Close())
	st.cache.Close()
	return err
}

// Head stands on the head of the branch called name. A missing one is ENOENT.
func (st *Store) Head(ctx context.Context, name string) (fsys *Tree, err error) {
	err = st.db.View(ctx, func(tx *schema.Tx) (err error) {
		fsys, err = st.HeadIn(tx, name)
		return err
	})
	return fsys, err
}

// HeadIn is head as part of a transaction.
func (st *Store) HeadIn(tx *schema.Tx, name string) (*Tree, error) {
	id, err := history.FindBranch(tx, name)
	if err != nil {
		return nil, err
	}
	fsys, err := st.Stand(tx, history.Moment{Branch: id, Epoch: schema.Head})
	if err != nil {
		return nil, err
	}
	fsys.branch, fsys.name = name, name
	return fsys, nil
}

// Stand makes the FS that reads at a moment.
func (st *Store) Stand(tx *schema.Tx, at history.Moment) (*Tree, error) {
	levels, err := history.ReadLineage(tx, at)
	if err != nil {
		return nil, err
	}
	filters, err := st.filters.of(tx, levels)
	if err != nil {
		return nil, err
	}

	fsys := &Tree{store: st, at: at, levels: levels, filters: filters, settled: !tx.Writable(), root: schema.RootIno}
	if tx.Writable() {
		tx.AfterCommit(func() { fsys.settled = true })
	}
	return fsys, nil
}

// Own gives the tree the name of the store, and makes it the one whose end is the end of the store.
func (fsys *Tree) Own(name string) { fsys.name, fsys.owner = name, true }

// Close closes the store if the tree owns it.
func (fsys *Tree) Close() error {
	if !fsys.owner {
		return nil
	}
	return fsys.store.Close()
}

// Name returns the path that Open was given, or for another FS its branch or directory.
func (fsys *Tree) Name() string { return fsys.name }

// Head returns the name of the branch that the FS writes to, as it was when the FS was made; "" if it stands on a past
// moment.
func (fsys *Tree) Head() string { return fsys.branch }

// Moment returns where in history the FS stands.
func (fsys *Tree) Moment() history.Moment { return fsys.at }

// DB returns the file under the FS, for rooms that keep rows of their own in it.
func (fsys *Tree) DB() *schema.DB { return fsys.store.db }

// Frozen reports whether the FS stands on a past moment and so refuses writes with EROFS.
func (fsys *Tree) Frozen() bool { return fsys.at.Epoch != schema.Head }

// Whole reports whether the FS shows a whole branch, or a moment of one, and not a directory of it as [FS.OpenRoot] does.
func (fsys *Tree) Whole() bool { return fsys.root == schema.RootIno }

// At stands on a past moment: something must keep it, or else it is ESTALE. The moment of a head is EINVAL.
func (st *Store) At(ctx context.Context, at history.Moment) (past *Tree, err error) {
	err = st.db.View(ctx, func(tx *schema.Tx) (err error) {
		past, err = st.AtIn(tx, at)
		return err
	})
	return past, err
}

// AtIn is At as part of a transaction.
func (st *Store) AtIn(tx *schema.Tx, at history.Moment) (*Tree, error) {
	if at.Epoch >= schema.Head {
		return nil, syscall.EINVAL
	}
	kept, err := history.Kept(tx, at)
	if err == nil && !kept {
		err = syscall.ESTALE
	}
	if err != nil {
		return nil, err
	}
	return st.Stand(tx, at)
}

// Sub returns the tree below a directory. The number is looked up by nobody again.
func (fsys *Tree) Sub(root node.Ino, name string) *Tree {
	sub := *fsys
	sub.root, sub.name, sub.owner = root, name, false
	return &sub
}

// View runs fn on one moment of the tree: what others commit meanwhile is not seen. fn must not keep tx, nor run for
// long, because the file cannot reuse its log meanwhile.
func (fsys *Tree) View(ctx context.Context, fn func(*Tx) error) error {
	return fsys.store.db.View(ctx, func(db *schema.Tx) error {
		tx, err := fsys.Begin(db)
		if err != nil {
			return err
		}
		return fn(tx)
	})
}

// Update runs fn and commits all that it did, or nothing if it returns an error. When Update has returned nil the
// commit is durable. One Update runs at a time: others wait, so fn should not wait for anything itself. Inside fn
// use tx, never fsys: a verb of fsys would wait for the Update that it is called from.
func (fsys *Tree) Update(ctx context.Context, fn func(*Tx) error) error {
	if fsys.Frozen() {
		return syscall.EROFS
	}
	var made folds
	defer made.end()
	return fsys.store.db.Update(ctx, func(db *schema.Tx) error { return fsys.run(db, &made, fn) })
}

// run is fn on a transaction of the file, up to what is to be committed.
func (fsys *Tree) run(db *schema.Tx, made *folds, fn func(*Tx) error) error {
	tx, err := fsys.Begin(db)
	if err != nil {
		return err
	}
	tx.folds = made
	if err := fn(tx); err != nil {
		return err
	}
	return tx.end()
}

// Join is an Update of one short verb, which writes about the given number of bytes. Verbs that wait for the lock at the
// same time share a commit, and an inode that several of them change, such as a directory's, is written once.
func (fsys *Tree) Join(ctx context.Context, bytes int, fn func(*Tx) error) error {
	if fsys.Frozen() {
		return syscall.EROFS
	}
	var made folds
	defer made.end()
	return fsys.store.db.Join(ctx, bytes, func(db *schema.Tx) error {
		return fsys.run(db, &made, fn)
	})
}

// Look runs fn on what is cached of this moment, or if that does not suffice, in a transaction that reads. So fn may run
// twice.
func (fsys *Tree) Look(ctx context.Context, fn func(*Tx) error) error {
	tx, err := fsys.Cached(ctx)
	if tx == nil {
		return fsys.View(ctx, fn)
	}
	if err == nil {
		err = fn(tx)
	}
	if tx.Missed() {
		return fsys.View(ctx, fn)
	}
	return err
}

// Cached returns a transaction that knows what is cached of this moment, and reads no row: where it would have to, it has
// missed, and its results are void. It is nil if nothing is cached, or ctx has ended.
func (fsys *Tree) Cached(ctx context.Context) (*Tx, error) {
	g := fsys.store.memory.Current()
	if g == nil || ctx.Err() != nil {
		return nil, nil
	}
	tx := &Tx{db: schema.Blind(ctx), fsys: fsys, mem: fsys.store.memory.Cached(g, fsys.at)}
	return tx, tx.checkBranch()
}

// pins lists what the open files need kept. The lease publishes it for collectors in other processes.
func (st *Store) pins() []hold.Pin {
	st.opening.Lock()
	defer st.opening.Unlock()
	st.mu.Lock()
	defer st.mu.Unlock()
	pins := make([]hold.Pin, 0, len(st.handles))
	for _, pin := range st.handles {
		if pin.Kind != 0 {
			pins = append(pins, pin)
		}
	}
	return pins
}

package tree

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/history"
	"vfsdb/hold"
	"vfsdb/journal"
	"vfsdb/memory"
	"vfsdb/schema"
	"vfsdb/tree/level"
)

// A Store is one open file, shared by every tree that stands on it.
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
	moments map[*Tree]bool       // of Hold

	journal *journal.Journal

	filters level.Filters
}

// Open opens the store in a file.
func Open(ctx context.Context, path string, o schema.Options, compress bool) (*Store, error) {
	db, err := schema.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	st := &Store{
		db: db, cache: chunk.NewCache(), compress: compress, journal: journal.New(db),
		handles: make(map[*Handle]hold.Pin), moments: make(map[*Tree]bool),
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

// DB returns the file of the store, for rooms that keep rows of their own in it.
func (st *Store) DB() *schema.DB { return st.db }

// Journal returns the journal of the store: its record of changes and calls.
func (st *Store) Journal() *journal.Journal { return st.journal }

// Cache returns the memory of verified content.
func (st *Store) Cache() *chunk.Cache { return st.cache }

// Head stands on the head of the branch called name. A missing one is ENOENT.
func (st *Store) Head(ctx context.Context, name string) (t *Tree, err error) {
	err = st.db.View(ctx, func(tx *schema.Tx) (err error) {
		t, err = st.HeadIn(tx, name)
		return err
	})
	return t, err
}

// HeadIn is Head as part of a transaction.
func (st *Store) HeadIn(tx *schema.Tx, name string) (*Tree, error) {
	id, err := history.FindBranch(tx, name)
	if err != nil {
		return nil, err
	}
	t, err := st.Stand(tx, history.Moment{Branch: id, Epoch: schema.Head})
	if err != nil {
		return nil, err
	}
	t.branch, t.name = name, name
	return t, nil
}

// Stand makes the tree of a moment.
func (st *Store) Stand(tx *schema.Tx, at history.Moment) (*Tree, error) {
	levels, err := history.ReadLineage(tx, at)
	if err != nil {
		return nil, err
	}
	filters, err := st.filters.Of(tx, levels)
	if err != nil {
		return nil, err
	}

	t := &Tree{store: st, at: at, levels: levels, filters: filters, settled: !tx.Writable(), root: schema.RootIno}
	if tx.Writable() {
		tx.AfterCommit(func() { t.settled = true })
	}
	return t, nil
}

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
	for held := range st.moments {
		for _, l := range held.levels { // a branch that is dropped keeps those above it no longer
			if l.Cap != schema.Head {
				pins = append(pins, hold.Pin{Kind: hold.Moment, Branch: l.Branch, ID: l.Cap})
			}
		}
	}
	return pins
}

// slots hold what other rooms keep in memory for a store, for as long as it is open.
type slots struct{ values sync.Map }

// slot returns the value under a key. The first call for a key makes it. It is safe for concurrent use; the value must be
// so too, since all transactions of the store share it.
func (s *slots) slot(key any, make func() any) any {
	if v, ok := s.values.Load(key); ok {
		return v
	}
	v, _ := s.values.LoadOrStore(key, make())
	return v
}

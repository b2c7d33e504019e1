package tree

import (
	"context"
	"sync"

	"vfsdb/history"
	"vfsdb/schema"
)

// Hold returns the tree as it is at present, which no later write changes; of a tree of the past, the same moment. No
// collector takes its content until release is called, or the store is closed, even if nothing else keeps the moment.
// Writes of open files that are not committed yet are committed first.
func (t *Tree) Hold(ctx context.Context) (held *Tree, release func(), err error) {
	st := t.store
	if err := st.lease.Hold(ctx); err != nil {
		return nil, nil, err
	}
	st.opening.RLock() // nothing is published before the moment is registered
	defer st.opening.RUnlock()

	if held, err = t.freeze(ctx); err != nil {
		st.lease.Drop()
		return nil, nil, err
	}
	held.held = true
	st.mu.Lock()
	defer st.mu.Unlock()
	st.moments[held] = true

	return held, sync.OnceFunc(func() {
		st.mu.Lock()
		delete(st.moments, held)
		st.mu.Unlock()
		st.lease.Drop()
	}), nil
}

// freeze returns the tree of the present moment.
func (t *Tree) freeze(ctx context.Context) (past *Tree, err error) {
	if t.Frozen() {
		err = t.View(ctx, func(*Tx) error { return nil }) // something keeps it now
		copied := *t
		copied.owner = false
		return &copied, err
	}
	root := t.root
	whole := *t
	whole.root = schema.RootIno
	err = whole.Update(ctx, func(tx *Tx) error {
		if err := tx.TakeWrites(); err != nil {
			return err
		}
		at, err := tx.Freeze()
		if err != nil {
			return err
		}
		past, err = t.store.Stand(tx.db, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	past.root, past.name = root, t.name
	return past, nil
}

// holding returns the levels of a moment that [Tree.Hold] keeps; nil of another one.
func (st *Store) holding(at history.Moment) []history.Level {
	st.mu.Lock()
	defer st.mu.Unlock()
	for held := range st.moments {
		if held.at == at {
			return held.levels
		}
	}
	return nil
}

package vfs

import "vfsdb/schema"

// An invalidation lists the names and inodes that a transaction writes, for all verbs that share its commit. After the
// commit these are dropped from the shared cache, and everything else is carried into the next generation. Names that
// were rolled back do no harm.
type invalidation struct {
	from  schema.Mark // the moment that the transaction started from
	names []treeName
	nodes []treeIno
}

// invalidationKey is the key of the invalidation among the notes of a transaction.
type invalidationKey struct{}

// maxInvalidation bounds the list: a commit that wrote more invalidates everything.
const maxInvalidation = 256

// carry has the commit of this transaction invalidate only what it writes. From here on all writes must go through
// putDirent, dropDirent, putInode and dropInode, which list them.
func (s *sharedCache) carry(tx *schema.Tx) {
	if tx.Local(invalidationKey{}) != nil {
		return // the first verb of the transaction has decided
	}

	// Nobody can commit while this transaction writes, so the present moment is what it starts from.
	g := s.current()
	if g == nil {
		tx.SetLocal(invalidationKey{}, (*invalidation)(nil))
		return
	}
	inv := &invalidation{from: g.mark}
	tx.SetLocal(invalidationKey{}, inv)
	tx.AfterCommit(func() { s.apply(inv) })
}

// apply begins the generation after a commit.
func (s *sharedCache) apply(inv *invalidation) {
	if len(inv.names)+len(inv.nodes) > maxInvalidation {
		return
	}
	mark, ok := s.db.CommitMark()
	if !ok {
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	g := s.gen.Load()
	if g.mark != inv.from {
		return
	}

	// The order matters: a reader that finds the new generation must not find what is no longer true in it. A reader
	// that is still in the old one puts nothing more, so nothing comes back.
	for _, key := range inv.names {
		s.names.drop(key)
	}
	for _, key := range inv.nodes {
		s.nodes.drop(key)
	}
	s.gen.Store(&generation{mark: mark, n: g.n + 1, since: g.since})
}

// invalidateName notes that a name is written.
func (tx *Tx) invalidateName(key nameKey) {
	if inv := tx.invalid; inv != nil && len(inv.names) <= maxInvalidation {
		inv.names = append(inv.names, treeName{tx.fsys.at, key})
	}
}

// invalidateNode notes that an inode is written.
func (tx *Tx) invalidateNode(ino Ino) {
	if inv := tx.invalid; inv != nil && len(inv.nodes) <= maxInvalidation {
		inv.nodes = append(inv.nodes, treeIno{tx.fsys.at, ino})
	}
}

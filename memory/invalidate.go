package memory

import (
	"vfsdb/node"
	"vfsdb/schema"
)

// An invalidation lists the names and inodes that a transaction writes, for all verbs that share its commit. After the
// commit these are dropped from the shared cache, and everything else is carried into the next generation. Names that
// were rolled back do no harm.
type invalidation struct {
	names []treeName
	nodes []treeIno
}

// invalidationKey is the key of the invalidation among the notes of a transaction.
type invalidationKey struct{}

// maxInvalidation bounds the lists: a commit that wrote more invalidates everything.
const maxInvalidation = 256

// Carry notes that a transaction lists what it writes, so that everything else is carried over its commit: a commit that
// wrote rows of trees without such a list invalidates everything. A function that writes rows which no tree shows yet, or
// none shows any more, calls Carry and lists nothing.
func Carry(db *schema.Tx) { invalidationOf(db) }

// invalidationOf returns the invalidation of a transaction that writes.
func invalidationOf(db *schema.Tx) *invalidation {
	inv, _ := db.Local(invalidationKey{}).(*invalidation)
	if inv == nil {
		inv = &invalidation{}
		db.SetLocal(invalidationKey{}, inv)
	}
	return inv
}

// InvalidateName notes that a name is written.
func (m *Memory) InvalidateName(db *schema.Tx, key node.Name) {
	if inv := invalidationOf(db); len(inv.names) <= maxInvalidation {
		inv.names = append(inv.names, treeName{m.moment, key})
	}
}

// InvalidateNode notes that an inode is written.
func (m *Memory) InvalidateNode(db *schema.Tx, ino node.Ino) {
	if inv := invalidationOf(db); len(inv.nodes) <= maxInvalidation {
		inv.nodes = append(inv.nodes, treeIno{m.moment, ino})
	}
}

// Committed begins the generation after a commit of this process, whatever made it, and drops what it wrote. Everything
// is invalid after a commit that wrote more than it lists, or when another process has committed since.
func (s *Shared) Committed(tx *schema.Tx) {
	if g := s.gen.Load(); g == nil || g.n == 0 {
		return // nothing is cached
	}
	inv, listed := tx.Local(invalidationKey{}).(*invalidation)
	switch {
	case !listed && tx.Written()&(schema.WroteTrees|schema.WroteBranches) != 0:
		return
	case !listed:
		inv = &invalidation{}
	case len(inv.names)+len(inv.nodes) > maxInvalidation:
		return
	}
	before, ok := tx.Started()
	if g := s.gen.Load(); !ok || g.over(before, g.mark) == nil {
		return // what is cached is of an earlier moment
	}
	after, ok := s.db.CommitMark()
	if !ok || after == before { // nothing was written
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	next := s.gen.Load().over(before, after)
	if next == nil {
		return
	}

	// The order matters: a reader in the new generation must find no entry that the commit made untrue. A reader that is
	// still in the old one adds nothing more, so no such entry comes back.
	for _, key := range inv.names {
		s.names.drop(key)
	}
	for _, key := range inv.nodes {
		s.nodes.drop(key)
	}
	if tx.Written()&schema.WroteKept != 0 {
		s.trees.clear()
	}
	s.gen.Store(next)
}

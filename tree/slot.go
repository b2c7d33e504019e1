package tree

import "sync"

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

// Slot returns the value that a room keeps in the store under a key of its own, see [slots].
func (tx *Tx) Slot(key any, make func() any) any { return tx.fsys.store.slots.slot(key, make) }

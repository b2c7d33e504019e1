package memory

import (
	"hash/maphash"
	"math/rand/v2"
	"sync/atomic"
)

// A table is a cache of fixed size: when a set is full, an entry makes way for another, invalid ones first. It is safe
// for concurrent use, and read without a lock, because an entry never changes: another one is put in its place.
type table[K cacheKey, V any] struct {
	shared  *Shared
	carried bool // its entries are valid after a commit of this process that did not invalidate them
	seed    maphash.Seed
	sets    []set[K, V] // the hash of a key selects one of them
}

type cacheKey interface {
	comparable

	// final reports whether the value can never change.
	final() bool
}

type set[K cacheKey, V any] [4]atomic.Pointer[cacheEntry[K, V]]

type cacheEntry[K cacheKey, V any] struct {
	key   K
	gen   uint64 // the generation in which it was read, or everyGen
	value V
}

// everyGen is the generation of entries that are valid in each.
const everyGen = 1<<64 - 1

func (t *table[K, V]) init(shared *Shared, sets int, carried bool) {
	t.shared, t.carried = shared, carried
	t.seed = maphash.MakeSeed()
	t.sets = make([]set[K, V], sets)
}

func (t *table[K, V]) set(key K) *set[K, V] {
	return &t.sets[maphash.Comparable(t.seed, key)%uint64(len(t.sets))]
}

// since returns the oldest generation whose entries are valid in g.
func (t *table[K, V]) since(g *Generation) uint64 {
	if t.carried {
		return g.since
	}
	return g.n
}

func (t *table[K, V]) get(g *Generation, key K) (value V, ok bool) {
	since := t.since(g)
	set := t.set(key)
	for i := range set {
		e := set[i].Load()
		if e != nil && e.key == key && (since <= e.gen && e.gen <= g.n || e.gen == everyGen) {
			return e.value, true
		}
	}
	return value, false
}

// getFinal is get for a key that is final.
func (t *table[K, V]) getFinal(key K) (value V, ok bool) {
	set := t.set(key)
	for i := range set {
		if e := set[i].Load(); e != nil && e.key == key {
			return e.value, true
		}
	}
	return value, false
}

// put caches what a transaction has read that sees g. If the table is carried, g must not be over: the commit that
// ended it has invalidated what it changed, and would not come back for this.
func (t *table[K, V]) put(g *Generation, key K, value V) {
	if key.final() {
		t.store(&cacheEntry[K, V]{key, everyGen, value})
		return
	}
	if t.carried {
		t.shared.mu.Lock()
		defer t.shared.mu.Unlock()
		if t.shared.gen.Load() != g {
			return
		}
	}
	t.store(&cacheEntry[K, V]{key, g.n, value})
}

// store puts an entry in the place of an older one of its key, of an invalid one, or of any.
func (t *table[K, V]) store(e *cacheEntry[K, V]) {
	since := t.since(t.shared.gen.Load())
	set := t.set(e.key)
	place := &set[rand.IntN(len(set))]
	for i := range set {
		if old := set[i].Load(); old == nil || old.gen < since || old.key == e.key {
			place = &set[i]
			break
		}
	}
	place.Store(e)
}

// clear invalidates all entries.
func (t *table[K, V]) clear() {
	for i := range t.sets {
		for j := range t.sets[i] {
			t.sets[i][j].Store(nil)
		}
	}
}

// drop invalidates the entry of a key.
func (t *table[K, V]) drop(key K) {
	set := t.set(key)
	for i := range set {
		if e := set[i].Load(); e != nil && e.key == key {
			set[i].Store(nil)
		}
	}
}

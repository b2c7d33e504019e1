package vfs

import (
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"vfsdb/schema"
)

// facts are what transactions that read have learnt of the trees of a store. All connections share them, and a verb
// whose answer is among them needs no transaction. A fact is true of one era, and is not looked for in another, so a
// commit by anybody, in whatever process, makes all of them void at once. Only after a commit of our own that tells
// what it has changed, the others hold on, see carry.
type facts struct {
	mu  sync.Mutex // held to begin an era, and to put what may hold on
	era atomic.Pointer[era]

	// These may hold on over commits of our own.
	trees table[Moment, struct{}] // that something keeps
	names table[nameFact, dirent] // also of what is not there
	nodes table[nodeFact, *inode] // nil where there is none; what is pointed at never changes

	// These do not.
	paths table[pathFact, *pathEnd] // that lead to something
	shown table[nodeFact, []Name]   // the entries that show an inode
	pairs table[pairFact, *keys]    // where two trees may differ
}

type nameFact struct {
	at Moment
	nameKey
}

type nodeFact struct {
	at  Moment
	ino Ino
}

type pairFact struct{ a, b Moment }

type pathFact struct {
	at     Moment
	root   Ino
	follow bool
	path   string
}

// A pathEnd is what find finds.
type pathEnd struct {
	place place
	node  *inode
}

// An era is the time from a commit to the next.
type era struct {
	mark  schema.Mark
	n     uint64 // another for each
	since uint64 // the first era whose facts are still true, as far as they are there
}

// Sizes of the tables, in sets of facts. When all are full, they take 17 MB, and more only where paths or names are
// very long, or files have very many names.
const (
	treeSets  = 1 << 4
	pairSets  = 1 << 2
	pathSets  = 1 << 12
	nameSets  = 1 << 13
	nodeSets  = 1 << 13
	shownSets = 1 << 11

	// What is longer is looked up each time: a path, the target of a symlink, and how many names a file has.
	maxPathFact   = 256
	maxTargetFact = 256
	maxShownFact  = 64
)

// now returns the era of this moment; nil if it is not known, or nothing was learnt in it.
func (f *facts) now(db *schema.DB) *era {
	e := f.era.Load()
	if e == nil {
		return nil
	}
	if mark, ok := db.Mark(); !ok || mark != e.mark {
		return nil
	}
	return e
}

// of returns the era of what a transaction sees; nil if that is not known, or over.
func (f *facts) of(tx *schema.Tx, db *schema.DB) *era {
	mark, ok := tx.Mark()
	if !ok {
		return nil
	}
	if e := f.era.Load(); e != nil && e.mark == mark {
		return e
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.era.Load()
	if e != nil && e.mark == mark {
		return e
	}
	if now, ok := db.Mark(); !ok || now != mark {
		return nil // who came later may have begun a later one
	}
	if e == nil {
		e = &era{}
		f.trees.init(treeSets, f)
		f.names.init(nameSets, f)
		f.nodes.init(nodeSets, f)
		f.paths.init(pathSets, nil)
		f.shown.init(shownSets, nil)
		f.pairs.init(pairSets, nil)
	}
	e = &era{mark: mark, n: e.n + 1, since: e.n + 1}
	f.era.Store(e)
	return e
}

// A table maps keys to what was learnt of them. It is of a fixed size, and forgets facts for others when it is full,
// void ones first. It is safe for concurrent use, and read without a lock: a fact is never changed, only put in the
// place of another.
type table[K comparable, V any] struct {
	seed maphash.Seed
	sets [][4]atomic.Pointer[fact[K, V]] // a key has its place in one of them
	held *facts                          // of which it is one whose facts may hold on; else nil
}

type fact[K comparable, V any] struct {
	key   K
	era   uint64
	value V
}

func (t *table[K, V]) init(sets int, held *facts) {
	t.seed = maphash.MakeSeed()
	t.sets = make([][4]atomic.Pointer[fact[K, V]], sets)
	t.held = held
}

func (t *table[K, V]) set(key K) *[4]atomic.Pointer[fact[K, V]] {
	return &t.sets[maphash.Comparable(t.seed, key)%uint64(len(t.sets))]
}

// since is the first era whose facts are true in e.
func (t *table[K, V]) since(e *era) uint64 {
	if t.held != nil {
		return e.since
	}
	return e.n
}

func (t *table[K, V]) get(e *era, key K) (value V, ok bool) {
	set := t.set(key)
	for i := range set {
		if f := set[i].Load(); f != nil && t.since(e) <= f.era && f.era <= e.n && f.key == key {
			return f.value, true
		}
	}
	return value, false
}

// put keeps what was learnt in e. Where facts may hold on, it comes too late once e is over: the commit that ended it
// has forgotten what it changed.
func (t *table[K, V]) put(e *era, key K, value V) {
	if t.held != nil {
		t.held.mu.Lock()
		defer t.held.mu.Unlock()
		if t.held.era.Load() != e {
			return
		}
	}
	set := t.set(key)
	place := &set[rand.IntN(len(set))]
	for i := range set {
		if f := set[i].Load(); f == nil || f.era < t.since(e) || f.key == key {
			place = &set[i]
			break
		}
	}
	place.Store(&fact[K, V]{key, e.n, value})
}

// drop forgets a key.
func (t *table[K, V]) drop(key K) {
	set := t.set(key)
	for i := range set {
		if f := set[i].Load(); f != nil && f.key == key {
			set[i].Store(nil)
		}
	}
}

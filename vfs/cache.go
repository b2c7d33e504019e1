package vfs

import (
	"maps"
	"strings"
	"sync"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// A cache is what transactions of one connection have read, and written, of one tree. It lives in the connection's
// memo: a commit by anybody else, or a rollback here, drops it whole, so it is never stale. It is for transactions that
// write, and for those that do not know their era; the others share facts.
type cache struct {
	user   *schema.Tx // the last
	branch struct {
		known bool
		epoch int64 // of the head
		gc    bool  // a collection runs; not known to a connection that reads
	}
	names map[nameKey]dirent
	whole map[Ino]bool // directories all of whose entries are in names: those that were made here
	nodes map[Ino]*inode
	dirty map[Ino]*inode // changed in memory, not yet in the table
	moves int            // of directories, so far

	sources map[Ino]source // where the log tells the sums of contents
}

type nameKey struct {
	dir  Ino
	name string
}

// cacheLimit bounds the entries of one cache. Changed inodes are not counted: they must be written first.
const cacheLimit = 1 << 16

// nothing is the cache of who shares facts. It stays empty.
var nothing = &cache{}

// knownName returns what this transaction, or another that saw the same, knows about a name.
func (tx *Tx) knownName(key nameKey) (dirent, bool) {
	if tx.era != nil {
		return tx.fsys.store.facts.names.get(tx.era, nameFact{tx.fsys.at, key})
	}
	if d, ok := tx.cache.names[key]; ok {
		return d, true
	}
	return dirent{level: fresh}, tx.cache.whole[key.dir]
}

func (tx *Tx) learnName(key nameKey, d dirent) {
	if tx.era != nil {
		tx.fsys.store.facts.names.put(tx.era, nameFact{tx.fsys.at, nameKey{key.dir, strings.Clone(key.name)}}, d)
		return
	}
	tx.cache.names[key] = d
}

// knownNode is knownName for an inode: nil if there is none.
func (tx *Tx) knownNode(ino Ino) (*inode, bool) {
	if tx.era != nil {
		return tx.fsys.store.facts.nodes.get(tx.era, nodeFact{tx.fsys.at, ino})
	}
	n, ok := tx.cache.nodes[ino]
	return n, ok
}

func (tx *Tx) learnNode(ino Ino, n *inode) {
	if tx.era != nil {
		if n != nil && len(n.target) > maxTargetFact {
			return
		}
		tx.fsys.store.facts.nodes.put(tx.era, nodeFact{tx.fsys.at, ino}, n)
		return
	}
	tx.cache.nodes[ino] = n
}

// cacheOf returns the cache of a tree on the transaction's connection. Whoever stands on the tree in this transaction
// has the same one, so none that it uses is given up for others, nor one that those who share its commit have something
// to write in.
func cacheOf(db *schema.Tx, at Moment) *cache {
	trees, _ := db.Memo().(map[Moment]*cache)
	if trees == nil {
		trees = make(map[Moment]*cache)
		db.SetMemo(trees)
	}
	if len(trees) > 8 {
		maps.DeleteFunc(trees, func(_ Moment, c *cache) bool { return c.user != db && len(c.dirty) == 0 })
	}
	c := trees[at]
	if c == nil {
		c = &cache{names: make(map[nameKey]dirent), whole: make(map[Ino]bool), nodes: make(map[Ino]*inode), dirty: make(map[Ino]*inode), sources: make(map[Ino]source)}
		trees[at] = c
	}
	c.user = db
	c.trim()
	return c
}

// forgetBranch makes the next transaction of this connection look whether a branch is still there.
func forgetBranch(db *schema.Tx, id int64) {
	trees, _ := db.Memo().(map[Moment]*cache)
	for at, c := range trees {
		if at.Branch == id {
			c.branch.known = false
		}
	}
}

// trim forgets clean entries once there are too many.
func (c *cache) trim() {
	if len(c.sources) > cacheLimit {
		clear(c.sources)
	}
	if len(c.names)+len(c.nodes) <= cacheLimit {
		return
	}
	clear(c.names)
	clear(c.whole)
	clear(c.nodes)
	for ino, n := range c.dirty {
		c.nodes[ino] = n
	}
}

// past holds what was read from levels of a lineage that never change any more, so it needs no validation,
// and what is known of contents, which never change at all.
// It is shared by all transactions of an FS.
type past struct {
	mu    sync.Mutex
	names map[nameKey]dirent
	nodes map[Ino]inode

	binary map[chunk.Content]bool // contents that were seen to look binary
}

func newPast() *past {
	return &past{
		names: make(map[nameKey]dirent), nodes: make(map[Ino]inode),
		binary: make(map[chunk.Content]bool),
	}
}

// remember looks key up in m, or finds the answer with find and keeps it.
func remember[K comparable, V any](p *past, m map[K]V, key K, find func() (V, error)) (V, error) {
	if v, ok := recall(p, m, key); ok {
		return v, nil
	}
	v, err := find()
	if err == nil {
		keep(p, m, key, v)
	}
	return v, err
}

// recall looks key up in m.
func recall[K comparable, V any](p *past, m map[K]V, key K) (V, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := m[key]
	return v, ok
}

// keep puts what was found into m.
func keep[K comparable, V any](p *past, m map[K]V, key K, v V) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(m) >= cacheLimit {
		clear(m)
	}
	m[key] = v
}

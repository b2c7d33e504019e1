package tree

import (
	"maps"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// An ownCache holds what the transactions of one connection have read and written of one tree. It stands in the
// connection's memo, which a commit by another connection clears, and a rollback of this one, so it is never stale.
// Transactions that write use it, and those that do not know their generation; the others use the [sharedCache].
type ownCache struct {
	user   *schema.Tx // the last
	branch branchState
	names  map[nameKey]node.Dirent
	whole  map[node.Ino]bool // directories all of whose entries are in names: those that were made here
	nodes  map[node.Ino]*node.Node
	dirty  map[node.Ino]*node.Node // changed in memory, not yet in the table
	moves  int                     // of directories, so far

	sources map[node.Ino]source // where the log has the sums of contents
}

// A branchState is what a transaction must know of its branch before it begins.
type branchState struct {
	known bool
	epoch int64 // of the head
	gc    bool  // a collection runs; not known to a connection that reads
}

// maxOwnEntries bounds the entries of one ownCache. Dirty inodes are not counted: they must be written first.
const maxOwnEntries = 1 << 16

// maxOwnTrees bounds how many trees a connection has caches of.
const maxOwnTrees = 8

// ownCacheOf returns the cache of a tree on the transaction's connection. All users of the tree in one transaction have
// the same cache, so one that is in use is not evicted, nor one with inodes that are still to be written.
func ownCacheOf(db *schema.Tx, at history.Moment) *ownCache {
	trees, _ := db.Memo().(map[history.Moment]*ownCache)
	if trees == nil {
		trees = make(map[history.Moment]*ownCache)
		db.SetMemo(trees)
	}
	if len(trees) > maxOwnTrees {
		maps.DeleteFunc(trees, func(_ history.Moment, c *ownCache) bool { return c.user != db && len(c.dirty) == 0 })
	}

	c := trees[at]
	if c == nil {
		c = &ownCache{
			names: make(map[nameKey]node.Dirent), whole: make(map[node.Ino]bool), nodes: make(map[node.Ino]*node.Node),
			dirty: make(map[node.Ino]*node.Node), sources: make(map[node.Ino]source),
		}
		trees[at] = c
	}
	c.user = db
	c.trim()
	return c
}

// invalidateBranch makes the next transaction of this connection look whether a branch is still there.
func invalidateBranch(db *schema.Tx, id int64) {
	trees, _ := db.Memo().(map[history.Moment]*ownCache)
	for at, c := range trees {
		if at.Branch == id {
			c.branch.known = false
		}
	}
}

// trim drops clean entries once there are too many.
func (c *ownCache) trim() {
	if len(c.sources) > maxOwnEntries {
		clear(c.sources)
	}
	if len(c.names)+len(c.nodes) <= maxOwnEntries {
		return
	}
	clear(c.names)
	clear(c.whole)
	clear(c.nodes)
	for ino, n := range c.dirty {
		c.nodes[ino] = n
	}
}

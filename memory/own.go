package memory

import (
	"maps"

	"vfsdb/chunk"
	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// An Own holds what the transactions of one connection have read and written of one tree. It stands in the
// connection's memo, which a commit by another connection clears, and a rollback of this one, so it is never stale.
// Transactions that write use it, and those that do not know their generation; the others use the [Shared].
type Own struct {
	user    *schema.Tx // the last
	Branch  BranchState
	Names   map[node.Name]node.Dirent
	Whole   map[node.Ino]bool // directories all of whose entries are in names: those that were made here
	Nodes   map[node.Ino]*node.Node
	Dirty   map[node.Ino]*node.Node  // changed in memory, not yet in the table
	namesOf map[node.Ino][]node.Name // the entries that show an inode, as far as they were asked for
	Moves   int                      // of directories, so far
	xattrs  int                      // bytes of attributes and conflicts that were put into nodes

	Sources map[node.Ino]Source // where the log has the sums of contents
}

// A BranchState is what a transaction must know of its branch before it begins.
type BranchState struct {
	Known      bool
	Epoch      int64 // of the head
	Collecting bool  // a collection runs; not known to a connection that reads

	// To which call the epoch belongs.
	Fresh   bool  // to none yet: nothing was written in it
	Claimed bool  // to Owner
	Owner   any   // nil: to no call, but something was written
	Step    int64 // if it is not claimed: the call by its number; 0 if it is not known to have one
}

// maxOwnEntries bounds the entries of one Own. Dirty inodes are not counted: they must be written first.
const maxOwnEntries = 1 << 16

// maxOwnXattrs bounds the bytes of attributes of one Own, which are counted when an inode comes to be there.
const maxOwnXattrs = 8 << 20

// maxOwnTrees bounds how many trees a connection has caches of.
const maxOwnTrees = 8

// ownCacheOf returns the cache of a tree on the transaction's connection. All users of the tree in one transaction have
// the same cache, so one that is in use is not evicted, nor one with inodes that are still to be written.
func ownCacheOf(db *schema.Tx, at history.Moment) *Own {
	trees, _ := db.Memo().(map[history.Moment]*Own)
	if trees == nil {
		trees = make(map[history.Moment]*Own)
		db.SetMemo(trees)
	}
	if len(trees) > maxOwnTrees {
		maps.DeleteFunc(trees, func(_ history.Moment, c *Own) bool { return c.user != db && len(c.Dirty) == 0 })
	}

	c := trees[at]
	if c == nil {
		c = &Own{
			Names: make(map[node.Name]node.Dirent), Whole: make(map[node.Ino]bool), Nodes: make(map[node.Ino]*node.Node),
			Dirty: make(map[node.Ino]*node.Node), namesOf: make(map[node.Ino][]node.Name), Sources: make(map[node.Ino]Source),
		}
		trees[at] = c
	}
	c.user = db
	c.trim()
	return c
}

// InvalidateBranch makes the next transaction of this connection look whether a branch is still there.
func InvalidateBranch(db *schema.Tx, id int64) {
	trees, _ := db.Memo().(map[history.Moment]*Own)
	for at, c := range trees {
		if at.Branch == id {
			c.Branch.Known = false
		}
	}
}

// Rename notes that a name shows another inode than before, or none: 0.
func (c *Own) Rename(key node.Name, was node.Ino, is node.Dirent) {
	delete(c.namesOf, was)
	delete(c.namesOf, is.Ino)
	c.Names[key] = is
}

// PutNode keeps an inode, or with nil that the tree does not have it.
func (c *Own) PutNode(ino node.Ino, n *node.Node) {
	c.Nodes[ino] = n
	if n != nil {
		c.xattrs += len(n.Xattrs) + len(n.Conflict)
	}
}

// Full reports whether the attributes take so much memory that the inodes should be written, so that trim can drop them.
func (c *Own) Full() bool { return c.xattrs > maxOwnXattrs }

// trim drops clean entries once there are too many.
func (c *Own) trim() {
	if len(c.Sources) > maxOwnEntries {
		clear(c.Sources)
	}
	if len(c.Names)+len(c.Nodes)+len(c.namesOf) <= maxOwnEntries && c.xattrs <= maxOwnXattrs {
		return
	}
	c.xattrs = 0
	clear(c.Names)
	clear(c.Whole)
	clear(c.Nodes)
	clear(c.namesOf)
	for ino, n := range c.Dirty {
		c.Nodes[ino] = n
	}
}

// A Source is the change that gave a file its content: a later change names it instead of the sum.
type Source struct {
	Content chunk.Content
	Sum     chunk.Sum
	Seq     int64
}

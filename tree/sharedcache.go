package tree

import (
	"strings"
	"sync"
	"sync/atomic"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// A sharedCache holds what transactions that read have found in the trees of a store. All connections share it. A verb
// finds its whole answer here, if it was asked before, and then begins no transaction.
//
// An entry belongs to a generation, see [generation]: a commit of another process makes a new one, in which nothing of
// the old is valid. After a commit of this process only what it wrote is invalid, see [invalidation]. Entries of a tree
// that can never change again are valid in every generation, see [Moment.final].
type sharedCache struct {
	db  *schema.DB
	mu  sync.Mutex // held to begin a generation, and to put what is carried into the next
	gen atomic.Pointer[generation]

	// Entries of these tables are carried over commits of this process.
	trees table[treeKey, struct{}]     // that something keeps
	names table[treeName, node.Dirent] // the dentry cache, absent names included
	nodes table[treeIno, *node.Node]   // the inode cache; nil where there is none, and no inode in it ever changes

	// Entries of these are not.
	paths   table[treePath, any]        // the path cache, of paths that lead to something
	namesOf table[treeIno, []node.Name] // the entries that show an inode
	pairs   table[treePair, *keys]      // where two trees may differ
}

// The keys of the tables: each says of which tree.
type (
	treeKey  history.Moment
	treeName struct {
		at history.Moment
		nameKey
	}
	treeIno struct {
		at  history.Moment
		ino node.Ino
	}
	treePath struct {
		at     history.Moment
		root   node.Ino
		follow bool
		path   string
	}
	treePair struct{ a, b history.Moment }
)

// A nameKey is a name in a directory.
type nameKey struct {
	dir  node.Ino
	name string
}

// clone returns a key that keeps nothing else in memory: a name may be a part of something larger.
func (k nameKey) clone() nameKey { return nameKey{k.dir, strings.Clone(k.name)} }

func (k treeKey) final() bool  { return false } // it may be deleted
func (k treeName) final() bool { return k.at.Final() }
func (k treeIno) final() bool  { return k.at.Final() }
func (k treePath) final() bool { return k.at.Final() }
func (k treePair) final() bool { return k.a.Final() && k.b.Final() }

// Sizes of the tables, in sets of four entries. When all are full, they take 17 MB, and more only where paths or names
// are very long, or files have very many names.
const (
	treeSets    = 1 << 4
	pairSets    = 1 << 2
	pathSets    = 1 << 12
	nameSets    = 1 << 13
	nodeSets    = 1 << 13
	namesOfSets = 1 << 11

	// Longer ones are read each time: a path, the target of a symlink, the names of a file, a comparison.
	maxCachedPath   = 256
	maxCachedTarget = 256
	maxCachedNames  = 64
	maxCachedKeys   = 1 << 12
)

// open makes the tables, before the first transaction.
func (s *sharedCache) open() {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.gen.Load() != nil {
		return
	}
	s.trees.init(s, treeSets, true)
	s.names.init(s, nameSets, true)
	s.nodes.init(s, nodeSets, true)
	s.paths.init(s, pathSets, false)
	s.namesOf.init(s, namesOfSets, false)
	s.pairs.init(s, pairSets, false)
	s.gen.Store(&generation{}) // of no moment: no mark is zero
}

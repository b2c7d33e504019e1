package memory

import (
	"strings"
	"sync"
	"sync/atomic"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// A Shared holds what transactions that read have found in the trees of a store. All connections share it. A verb
// finds its whole answer here, if it was asked before, and then begins no transaction.
//
// An entry belongs to a generation, see [Generation]: a commit of another process makes a new one, in which nothing of
// the old is valid. After a commit of this process only the entries that it wrote are invalid, see [invalidation]. Entries of a tree
// that can never change again are valid in every generation, see [history.Moment.Final].
type Shared struct {
	db  *schema.DB
	mu  sync.Mutex // held to begin a generation, and to put what is carried into the next
	gen atomic.Pointer[Generation]

	// Entries of these tables are carried over commits of this process.
	trees table[treeKey, struct{}]     // that something keeps
	names table[treeName, node.Dirent] // the dentry cache, absent names included
	nodes table[treeIno, *node.Node]   // the inode cache; nil where there is none, and no inode in it ever changes

	// Entries of these are not.
	paths   table[treePath, any]        // the path cache, of paths that lead to something
	namesOf table[treeIno, []node.Name] // the entries that show an inode
	pairs   table[treePair, *Keys]      // where two trees may differ
}

// The keys of the tables: each says of which tree.
type (
	treeKey  history.Moment
	treeName struct {
		at   history.Moment
		name node.Name
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

// clone returns a name that keeps nothing else in memory: it may be a part of something larger.
func clone(n node.Name) node.Name { return node.Name{Dir: n.Dir, Base: strings.Clone(n.Base)} }

// small reports whether an inode, or that there is none, takes no more than its place in a table.
func small(n *node.Node) bool {
	return n == nil || len(n.Target) <= maxCachedTarget && len(n.Xattrs)+len(n.Conflict) <= maxCachedXattrs
}

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

	// Longer ones are read each time: a path, the target of a symlink, the attributes of an inode, the names of a file, a
	// comparison.
	maxCachedPath   = 256
	maxCachedTarget = 256
	maxCachedXattrs = 256
	maxCachedNames  = 64
	maxCachedKeys   = 1 << 12
)

// New returns the cache of a store. It takes no memory before the first transaction.
func New(db *schema.DB) *Shared { return &Shared{db: db} }

// NewSmall returns a cache with room for four entries of each kind. It is for tests, which see that evictions do no harm.
func NewSmall(db *schema.DB) *Shared {
	s := New(db)
	s.make(func(int) int { return 1 })
	return s
}

// open makes the tables, before the first transaction.
func (s *Shared) open() { s.make(func(sets int) int { return sets }) }

// make makes the tables with as many sets as size returns.
func (s *Shared) make(size func(sets int) int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.gen.Load() != nil {
		return
	}
	s.trees.init(s, size(treeSets), true)
	s.names.init(s, size(nameSets), true)
	s.nodes.init(s, size(nodeSets), true)
	s.paths.init(s, size(pathSets), false)
	s.namesOf.init(s, size(namesOfSets), false)
	s.pairs.init(s, size(pairSets), false)
	s.gen.Store(&Generation{}) // of no moment: no mark is zero
}

// Keys are of entries and inodes, in order. They are shared, and nobody changes them.
type Keys struct {
	Names []node.Name
	Inos  []node.Ino
}

package tree

import (
	"strings"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// A memory is what a transaction knows of its tree without reading rows: a dentry cache, an inode cache, and for
// transactions that share theirs a path cache and more. It has two forms.
//
// Transactions that read share the caches of the store, see [sharedCache]. Their entries are valid for one generation:
// from a commit to the next.
//
// A transaction that writes has a cache of its own, see [ownCache], because what it wrote is not committed. So has one
// that reads, if it does not see the present generation.
type memory struct {
	moment history.Moment
	shared *sharedCache
	gen    *generation // that the transaction sees; nil if it has a cache of its own
	own    *ownCache   // nil if gen is not
}

// memory returns what a transaction knows of a tree.
func (s *sharedCache) memory(tx *schema.Tx, tree history.Moment) memory {
	m := memory{moment: tree, shared: s, gen: s.of(tx)}
	if m.gen == nil {
		m.own = ownCacheOf(tx, tree)
	}
	return m
}

// getTree reports whether the tree is known to be there still.
func (m *memory) getTree() bool {
	if m.gen != nil {
		_, ok := m.shared.trees.get(m.gen, treeKey(m.moment))
		return ok
	}
	return m.own.branch.known
}

func (m *memory) putTree(b branchState) {
	if m.gen != nil {
		m.shared.trees.put(m.gen, treeKey(m.moment), struct{}{})
		return
	}
	m.own.branch = b
}

// getName returns what the tree shows under a name, if that is known. An absent name has an entry too.
func (m *memory) getName(key nameKey) (node.Dirent, bool) {
	if m.gen != nil {
		return m.shared.names.get(m.gen, treeName{m.moment, key})
	}
	if d, ok := m.own.names[key]; ok {
		return d, true
	}
	return node.Dirent{Level: node.Fresh}, m.own.whole[key.dir]
}

func (m *memory) putName(key nameKey, d node.Dirent) {
	if m.gen != nil {
		m.shared.names.put(m.gen, treeName{m.moment, key.clone()}, d)
		return
	}
	m.own.names[key] = d
}

// getNode is getName for an inode: nil if the tree does not have it.
func (m *memory) getNode(ino node.Ino) (*node.Node, bool) {
	if m.gen != nil {
		return m.shared.nodes.get(m.gen, treeIno{m.moment, ino})
	}
	n, ok := m.own.nodes[ino]
	return n, ok
}

func (m *memory) putNode(ino node.Ino, n *node.Node) {
	if m.gen == nil {
		m.own.nodes[ino] = n
	} else if n == nil || len(n.Target) <= maxCachedTarget {
		m.shared.nodes.put(m.gen, treeIno{m.moment, ino}, n)
	}
}

// fillName is putName for a name that is not known yet.
func (m *memory) fillName(key nameKey, d node.Dirent) {
	if _, known := m.getName(key); !known {
		m.putName(key, d)
	}
}

// fillNode is putNode for an inode that is not known yet.
func (m *memory) fillNode(ino node.Ino, n *node.Node) {
	if _, known := m.getNode(ino); !known {
		m.putNode(ino, n)
	}
}

// CachedPath returns what CachePath has kept of a path. Only the shared form has a path cache: a write would clear it.
func (m *memory) CachedPath(root node.Ino, follow bool, path string) (end any, ok bool) {
	if m.gen == nil {
		return nil, false
	}
	return m.shared.paths.get(m.gen, treePath{m.moment, root, follow, path})
}

// CachePath keeps the end of a path, which leads to the inode n: a value of the room that takes paths apart.
func (m *memory) CachePath(root node.Ino, follow bool, path string, n *node.Node, end any) {
	if m.gen != nil && len(path) <= maxCachedPath && len(n.Target) <= maxCachedTarget {
		path = strings.Clone(path) // it may be a part of something larger
		m.shared.paths.put(m.gen, treePath{m.moment, root, follow, path}, end)
	}
}

// getNamesOf returns the entries that show an inode. Only the shared form has them, as for paths.
func (m *memory) getNamesOf(ino node.Ino) ([]node.Name, bool) {
	if m.gen == nil {
		return nil, false
	}
	return m.shared.namesOf.get(m.gen, treeIno{m.moment, ino})
}

func (m *memory) putNamesOf(ino node.Ino, names []node.Name) {
	if m.gen != nil && len(names) <= maxCachedNames {
		m.shared.namesOf.put(m.gen, treeIno{m.moment, ino}, names)
	}
}

// getPair returns where this tree and another may differ.
func (m *memory) getPair(other history.Moment) (*keys, bool) {
	if m.gen == nil {
		return nil, false
	}
	return m.shared.pairs.get(m.gen, treePair{m.moment, other})
}

func (m *memory) putPair(other history.Moment, k *keys) {
	if m.gen != nil && len(k.names)+len(k.inos) <= maxCachedKeys {
		m.shared.pairs.put(m.gen, treePair{m.moment, other}, k)
	}
}

// inherited is the moment before a branch had rows of its own. Its tree is what the branch inherits, which never changes,
// so what is known of it is cached for good, for transactions that write too.
func (m *memory) inherited() history.Moment {
	return history.Moment{Branch: m.moment.Branch, Epoch: schema.FirstEpoch - 1}
}

// getInheritedName returns what the levels above the first show under a name.
func (m *memory) getInheritedName(key nameKey) (node.Dirent, bool) {
	return m.shared.names.getFinal(treeName{m.inherited(), key})
}

func (m *memory) putInheritedName(key nameKey, d node.Dirent) {
	m.shared.names.put(nil, treeName{m.inherited(), key.clone()}, d)
}

// getInheritedNode is getInheritedName for an inode: nil if those levels show none.
func (m *memory) getInheritedNode(ino node.Ino) (*node.Node, bool) {
	return m.shared.nodes.getFinal(treeIno{m.inherited(), ino})
}

func (m *memory) putInheritedNode(ino node.Ino, n *node.Node) {
	if n == nil || len(n.Target) <= maxCachedTarget {
		m.shared.nodes.put(nil, treeIno{m.inherited(), ino}, n)
	}
}

// countMoves returns how often a directory has been moved, as far as the transaction has seen: one that reads has seen none.
func (m *memory) countMoves() int {
	if m.own == nil {
		return 0
	}
	return m.own.moves
}

// trim bounds the form that grows with what one transaction reads. The shared tables have a fixed size.
func (m *memory) trim() {
	if m.own != nil {
		m.own.trim()
	}
}

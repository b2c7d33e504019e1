package memory

import (
	"strings"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// A Memory is what a transaction knows of its tree without reading rows: a dentry cache, an inode cache, and for
// transactions that share theirs a path cache and more. It has two forms.
//
// Transactions that read share the caches of the store, see [Shared]. Their entries are valid for one generation:
// from a commit to the next.
//
// A transaction that writes has a cache of its own, see [Own], because what it wrote is not committed. So has one
// that reads, if it does not see the present generation.
type Memory struct {
	moment history.Moment
	shared *Shared
	Gen    *Generation // that the transaction sees; nil if it has a cache of its own
	Own    *Own        // nil if Gen is not
}

// Begin returns what a transaction knows of a tree.
func (s *Shared) Begin(tx *schema.Tx, tree history.Moment) Memory {
	if g := s.of(tx); g != nil {
		return s.Cached(g, tree)
	}
	return s.BeginOwn(tx, tree)
}

// BeginOwn is Begin for a transaction that does not share what it knows.
func (s *Shared) BeginOwn(tx *schema.Tx, tree history.Moment) Memory {
	if s.gen.Load() == nil {
		s.open()
	}
	return Memory{moment: tree, shared: s, Own: ownCacheOf(tx, tree)}
}

// Cached returns what is known of a tree in a generation.
func (s *Shared) Cached(g *Generation, tree history.Moment) Memory {
	return Memory{moment: tree, shared: s, Gen: g}
}

// TreeKnown reports whether the tree is known to be there still.
func (m *Memory) TreeKnown() bool {
	if m.Gen != nil {
		_, ok := m.shared.trees.get(m.Gen, treeKey(m.moment))
		return ok
	}
	return m.Own.Branch.Known
}

// PutTree keeps that the tree is there, and for a transaction that writes the state of its branch.
func (m *Memory) PutTree(b BranchState) {
	if m.Gen != nil {
		m.shared.trees.put(m.Gen, treeKey(m.moment), struct{}{})
		return
	}
	m.Own.Branch = b
}

// Name returns what the tree shows under a name, if that is known. An absent name has an entry too.
func (m *Memory) Name(key node.Name) (node.Dirent, bool) {
	if m.Gen != nil {
		return m.shared.names.get(m.Gen, treeName{m.moment, key})
	}
	if d, ok := m.Own.Names[key]; ok {
		return d, true
	}
	return node.Dirent{Level: node.Fresh}, m.Own.Whole[key.Dir]
}

// PutName keeps what the tree shows under a name.
func (m *Memory) PutName(key node.Name, d node.Dirent) {
	if m.Gen != nil {
		m.shared.names.put(m.Gen, treeName{m.moment, clone(key)}, d)
		return
	}
	m.Own.Names[key] = d
}

// Node is Name for an inode: nil if the tree does not have it.
func (m *Memory) Node(ino node.Ino) (*node.Node, bool) {
	if m.Gen != nil {
		return m.shared.nodes.get(m.Gen, treeIno{m.moment, ino})
	}
	n, ok := m.Own.Nodes[ino]
	return n, ok
}

// PutNode keeps an inode, or with nil that the tree does not have it.
func (m *Memory) PutNode(ino node.Ino, n *node.Node) {
	if m.Gen == nil {
		m.Own.PutNode(ino, n)
	} else if small(n) {
		m.shared.nodes.put(m.Gen, treeIno{m.moment, ino}, n)
	}
}

// FillName is PutName for a name that is not known yet.
func (m *Memory) FillName(key node.Name, d node.Dirent) {
	if _, known := m.Name(key); !known {
		m.PutName(key, d)
	}
}

// FillNode is PutNode for an inode that is not known yet.
func (m *Memory) FillNode(ino node.Ino, n *node.Node) {
	if _, known := m.Node(ino); !known {
		m.PutNode(ino, n)
	}
}

// Path returns what PutPath has kept of a path. Only the shared form has a path cache: a write would clear it.
func (m *Memory) Path(root node.Ino, follow bool, path string) (end any, ok bool) {
	if m.Gen == nil {
		return nil, false
	}
	return m.shared.paths.get(m.Gen, treePath{m.moment, root, follow, path})
}

// PutPath keeps the end of a path, which leads to the inode n: a value of the room that takes paths apart.
func (m *Memory) PutPath(root node.Ino, follow bool, path string, n *node.Node, end any) {
	if m.Gen != nil && len(path) <= maxCachedPath && small(n) {
		path = strings.Clone(path) // it may be a part of something larger
		m.shared.paths.put(m.Gen, treePath{m.moment, root, follow, path}, end)
	}
}

// NamesOf returns the entries that show an inode.
func (m *Memory) NamesOf(ino node.Ino) ([]node.Name, bool) {
	if m.Gen != nil {
		return m.shared.namesOf.get(m.Gen, treeIno{m.moment, ino})
	}
	names, ok := m.Own.namesOf[ino]
	return names, ok
}

// PutNamesOf keeps the entries that show an inode.
func (m *Memory) PutNamesOf(ino node.Ino, names []node.Name) {
	switch {
	case len(names) > maxCachedNames:
	case m.Gen != nil:
		m.shared.namesOf.put(m.Gen, treeIno{m.moment, ino}, names)
	default:
		m.Own.namesOf[ino] = names
	}
}

// Pair returns where this tree and another may differ.
func (m *Memory) Pair(other history.Moment) (*Keys, bool) {
	if m.Gen == nil {
		return nil, false
	}
	return m.shared.pairs.get(m.Gen, treePair{m.moment, other})
}

// PutPair keeps where this tree and another may differ.
func (m *Memory) PutPair(other history.Moment, k *Keys) {
	if m.Gen != nil && len(k.Names)+len(k.Inos) <= maxCachedKeys {
		m.shared.pairs.put(m.Gen, treePair{m.moment, other}, k)
	}
}

// inherited is the moment before a branch had rows of its own. Its tree, which the branch inherits, never changes, so its
// entries are cached for good, for transactions that write too.
func (m *Memory) inherited() history.Moment {
	return history.Moment{Branch: m.moment.Branch, Epoch: schema.FirstEpoch - 1}
}

// InheritedName returns what the levels above the first show under a name.
func (m *Memory) InheritedName(key node.Name) (node.Dirent, bool) {
	return m.shared.names.getFinal(treeName{m.inherited(), key})
}

// PutInheritedName keeps what the levels above the first show under a name, for good.
func (m *Memory) PutInheritedName(key node.Name, d node.Dirent) {
	m.shared.names.put(nil, treeName{m.inherited(), clone(key)}, d)
}

// InheritedNode is InheritedName for an inode: nil if those levels show none.
func (m *Memory) InheritedNode(ino node.Ino) (*node.Node, bool) {
	return m.shared.nodes.getFinal(treeIno{m.inherited(), ino})
}

// PutInheritedNode is PutInheritedName for an inode: nil if those levels show none.
func (m *Memory) PutInheritedNode(ino node.Ino, n *node.Node) {
	if small(n) {
		m.shared.nodes.put(nil, treeIno{m.inherited(), ino}, n)
	}
}

// Moves returns how often a directory has been moved, as far as the transaction has seen: one that reads has seen none.
func (m *Memory) Moves() int {
	if m.Own == nil {
		return 0
	}
	return m.Own.Moves
}

// Trim bounds the form that grows with what one transaction reads. The shared tables have a fixed size.
func (m *Memory) Trim() {
	if m.Own != nil {
		m.Own.trim()
	}
}

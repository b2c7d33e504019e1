package vfstest

import (
	"io/fs"
	"maps"
	"path"
	"slices"
)

// A Model is one tree of a filesystem, written as plainly as possible. Its verbs return what those of vfs return, errno
// included. It has no history: a snapshot, a branch and a restore are each a [Model.Clone].
type Model struct {
	nodes map[int]*node
	last  *int // the highest number of a node in this tree and its clones
}

// A node is an inode. It keeps its number in all clones.
type node struct {
	mode    fs.FileMode
	links   int
	data    *content
	target  string
	entries map[string]int // of a directory
}

const modelRoot = 0

// NewModel returns an empty root.
func NewModel() *Model { return empty(new(int)) }

// Empty returns an empty root with which m has no file in common.
func (m *Model) Empty() *Model { return empty(m.last) }

func empty(last *int) *Model {
	return &Model{last: last, nodes: map[int]*node{modelRoot: {mode: fs.ModeDir | 0o755, links: 1, entries: map[string]int{}}}}
}

// Clone returns a deep copy. Its nodes keep their numbers, so a file that is renamed there can be recognised.
func (m *Model) Clone() *Model {
	c := &Model{nodes: make(map[int]*node, len(m.nodes)), last: m.last}
	for id, n := range m.nodes {
		copied := *n
		copied.entries = maps.Clone(n.entries)
		c.nodes[id] = &copied
	}
	return c
}

// Paths returns the paths of all files below the root, sorted.
func (m *Model) Paths() []string { return slices.Sorted(maps.Keys(m.paths())) }

// Dump describes the model as [Dump] describes a store.
func (m *Model) Dump() map[string]string {
	dump := map[string]string{".": m.nodes[modelRoot].describe()}
	for name, id := range m.paths() {
		dump[name] = m.nodes[id].describe()
	}
	return dump
}

func (n *node) describe() string {
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return describeLink(n.links, n.target)
	case n.mode.IsRegular():
		return describeFile(n.mode, n.links, int64(len(n.data.bytes)), n.data.sum)
	}
	return describeOther(n.mode, n.links)
}

// paths returns the nodes of all files below the root, by path.
func (m *Model) paths() map[string]int {
	paths := make(map[string]int)
	var walk func(dir string, id int)
	walk = func(dir string, id int) {
		for name, child := range m.nodes[id].entries {
			at := path.Join(dir, name)
			paths[at] = child
			if m.nodes[child].mode.IsDir() {
				walk(at, child)
			}
		}
	}
	walk("", modelRoot)
	return paths
}

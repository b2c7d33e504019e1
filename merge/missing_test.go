package merge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/node"
	"vfsdb/schema"
)

// inMemory returns a tree of some entries, all of which show directories but those of missing inodes.
func inMemory(t *testing.T, names map[node.Name]node.Ino, missing ...node.Ino) *view {
	v := newView(nil)
	dir := func(ino node.Ino) *node.Node { return &node.Node{Ino: ino, Mode: node.KindDir<<12 | 0o755, Nlink: 1} }
	v.nodes[schema.RootIno] = dir(schema.RootIno)
	for name, ino := range names {
		require.NoError(t, v.put(name, ino))
		v.nodes[ino] = dir(ino)
	}
	for _, ino := range missing {
		delete(v.nodes, ino)
	}
	return v
}

// Conflicts of inodes that are not in the result leave those of others as they are.
func TestTermsOfMissing(t *testing.T) {
	const first, missing, last = schema.FirstID, schema.FirstID + 20, schema.FirstID + 40
	names := make(map[node.Name]node.Ino)
	for ino := first; ino < missing; ino++ {
		names[node.Name{Dir: schema.RootIno, Base: string(rune('a' + ino - first))}] = node.Ino(ino)
	}
	m := newMerger(nil, nil, nil)
	m.out = inMemory(t, names)
	for ino := node.Ino(first); ino < last; ino++ {
		m.conflict(ino, node.Term{Side: node.Theirs, Registers: node.Attrs})
	}

	require.NoError(t, m.addTerms())
	for ino := node.Ino(first); ino < missing; ino++ {
		require.NotEmpty(t, m.out.nodes[ino].Conflict)
	}
}

// An entry of the base whose inode is missing leaves the others of its directory to be paired.
func TestPairBesideMissing(t *testing.T) {
	const was, a, b, is, now = schema.FirstID, schema.FirstID + 1, schema.FirstID + 2, schema.FirstID + 3, schema.FirstID + 4
	base := inMemory(t, map[node.Name]node.Ino{
		{Dir: schema.RootIno, Base: "d"}: was, {Dir: was, Base: "a"}: a, {Dir: was, Base: "b"}: b,
	}, a)
	theirs := inMemory(t, map[node.Name]node.Ino{{Dir: schema.RootIno, Base: "d"}: is, {Dir: is, Base: "b"}: now})
	m := newMerger(base, nil, theirs)
	m.inTheirs[was], m.ofTheirs[is] = is, was

	require.NoError(t, m.pairBelow())
	require.Equal(t, []node.Ino{a, b}, m.lost)
	require.Equal(t, node.Ino(now), m.inTheirs[b])
}

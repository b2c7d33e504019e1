package merge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/node"
)

// A damaged conflict, which takes away more than it adds or the other way, leaves a value.
func TestUnbalancedConflict(t *testing.T) {
	file := func(blob int64, terms ...node.Term) state {
		n := &node.Node{Ino: 7, Mode: node.KindFile<<12 | 0o644, Content: chunk.Content{Size: 1, Blob: blob}}
		n.Conflict = node.NewConflict(terms)
		return state{n, []node.Name{{Dir: 1, Base: "a"}}}
	}
	m := newMerger(nil, nil, nil)
	one := m.termOf(node.Base, node.Bytes, file(1))
	more := one
	more.Side = node.Theirs

	for _, tt := range []struct{ b, o, t state }{
		{file(1), file(1, one, one), file(1)},
		{file(1, more, more), file(1), file(1)},
		{file(1), file(1), file(1, one)},
	} {
		value, rest, err := m.mergeRegister(registers[0], tt.b, tt.o, tt.t)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, int64(1), value.Content.Blob)
	}
}

package tree_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/node"
	"vfsdb/tree"
)

// A new inode waits in memory, so that its row has the content that the transaction gives it. One that the transaction drops
// again gets no row. Only so many wait.
func TestNewInodesWait(t *testing.T) {
	fsys := vfstest.New(t)
	head := (*tree.Tree)(fsys)
	rows := func(tx *tree.Tx) int64 {
		n, _, err := tx.DB().Int(`SELECT count(*) FROM inode WHERE branch = ?`, head.Moment().Branch)
		require.NoError(t, err)
		return n
	}
	at := func(name string) tree.Place { return tree.Place{Dir: head.Root(), Base: name, Path: name} }
	create := func(tx *tree.Tx, name string) *node.Node {
		n := tx.NewNode(node.ModeFile | 0o600)
		require.NoError(t, tx.Create(at(name), n, chunk.SumOf(nil)))
		return n
	}

	before := int64(0)
	require.NoError(t, head.Update(t.Context(), func(tx *tree.Tx) error {
		before = rows(tx)
		create(tx, "new")
		content, err := chunk.Apply(tx.DB(), chunk.Content{}, 4, []chunk.Patch{{Data: []byte("text")}})
		require.NoError(t, err)
		require.NoError(t, tx.Rewrite(at("new"), "write", content))

		gone := create(tx, "gone")
		require.NoError(t, tx.DropEntry(node.Name{Dir: head.Root(), Base: "gone"}))
		require.NoError(t, tx.DropNode(gone.Ino))
		require.Equal(t, before, rows(tx))
		require.NoError(t, tx.Flush())
		require.Equal(t, before+1, rows(tx))
		return nil
	}))
	text, err := fsys.ReadFile(t.Context(), "new")
	require.NoError(t, err)
	require.Equal(t, "text", string(text))

	require.NoError(t, head.Update(t.Context(), func(tx *tree.Tx) error {
		for i := range 5000 {
			create(tx, fmt.Sprint(i))
		}
		require.Greater(t, rows(tx), before+4000)
		return nil
	}))
	require.Len(t, vfstest.Names(t, fsys), 5001)
}

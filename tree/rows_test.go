package tree_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A delta that is put row by row makes a tree what a restore makes it, in the branch itself, in a fork, and in a fork of
// a fork, whose rows hide those that they inherit.
func TestRowsOfADelta(t *testing.T) {
	ctx := t.Context()
	random := rand.New(rand.NewPCG(16, 4))
	main := vfstest.New(t, "a/x", "a/b/y", "c/z", "d/")
	heads := []*vfs.FS{main}
	for _, name := range []string{"b", "c"} {
		base := heads[len(heads)-1]
		vfstest.Scramble(t, base, random)
		forkOf(t, base, name)
		heads = append(heads, branchOf(t, main, name))
	}

	for range 30 {
		to, from := heads[random.IntN(len(heads))], heads[random.IntN(len(heads))]
		vfstest.Scramble(t, from, random)
		vfstest.Scramble(t, to, random)
		require.NoError(t, to.Update(ctx, func(tx *vfs.Tx) error {
			on, err := (*tree.Tx)(tx).On((*tree.Tree)(from))
			require.NoError(t, err)
			putDelta(t, (*tree.Tx)(tx), on)
			rest, err := tree.Compare((*tree.Tx)(tx), on)
			require.NoError(t, err)
			require.Empty(t, rest.Names)
			require.Empty(t, rest.Inodes)
			return nil
		}))
		require.Equal(t, vfstest.Dump(t, from), vfstest.Dump(t, to))
	}
}

// putDelta makes a tree equal to another one, by the functions that change rows.
func putDelta(t *testing.T, to, from *tree.Tx) {
	t.Helper()
	delta, err := tree.Compare(to, from)
	require.NoError(t, err)
	for _, change := range delta.Names {
		if change.New == 0 {
			require.NoError(t, to.DropEntry(change.Name))
			continue
		}
		d, err := from.Lookup(change.Dir, change.Base)
		require.NoError(t, err)
		require.NoError(t, to.PutEntry(change.Name, d.Ino, d.Kind))
	}
	var nodes []*node.Node
	for _, change := range delta.Inodes {
		if change.New == nil {
			require.NoError(t, to.DropNode(change.Ino))
			continue
		}
		n, err := from.Node(change.Ino)
		require.NoError(t, err)
		nodes = append(nodes, n)
	}
	require.NoError(t, to.PutNodes(nodes...))
}

// A DropNode that fails, because what the branch inherits cannot be read, changes nothing, in memory either.
func TestDropNodeThatFails(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t, "f")
	forkOf(t, main, "b")
	require.NoError(t, branchOf(t, main, "b").Chmod(ctx, "f", 0o600))
	info, err := main.Lstat(ctx, "f")
	require.NoError(t, err)
	resize := func(by int64) {
		require.NoError(t, vfstest.DB(main).Update(ctx, func(db *schema.Tx) error {
			_, err := db.Exec(`UPDATE inode SET size = size + ? WHERE branch = 1024 AND ino = ?`, by, int64(info.Ino()))
			return err
		}))
	}

	resize(-100)
	b := branchOf(t, vfstest.Open(t, main.Name(), nil), "b")
	require.NoError(t, b.Update(ctx, func(tx *vfs.Tx) error {
		require.ErrorIs(t, (*tree.Tx)(tx).DropNode(info.Ino()), vfs.ErrCorrupt)
		n, err := (*tree.Tx)(tx).Node(info.Ino())
		require.NoError(t, err)
		require.NotNil(t, n)
		return tx.Chmod("f", 0o640)
	}))
	after, err := b.Lstat(ctx, "f")
	require.NoError(t, err)
	require.Equal(t, "-rw-r-----", after.Mode().String())
	resize(100)
}

// forkOf forks a branch from a head as it is now, and returns the moment.
func forkOf(t *testing.T, fsys *vfs.FS, name string) (at vfs.Moment) {
	t.Helper()
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) (err error) {
		if at, err = (*tree.Tx)(tx).Freeze(); err != nil {
			return err
		}
		return (*tree.Tx)(tx).Fork(at, name)
	}))
	return at
}

func branchOf(t *testing.T, fsys *vfs.FS, name string) *vfs.FS {
	t.Helper()
	head, err := fsys.Branch(context.Background(), name)
	require.NoError(t, err)
	return head
}

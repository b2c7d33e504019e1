package tree_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// What two trees have in common is the latest moment of a branch that both come from.
func TestBase(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t, "a")
	first := forkOf(t, main, "b")
	vfstest.Write(t, main, "m", "1")
	b := branchOf(t, main, "b")
	vfstest.Write(t, b, "x", "1")
	second := forkOf(t, b, "c")
	third := forkOf(t, main, "d")
	c, d := branchOf(t, main, "c"), branchOf(t, main, "d")
	vfstest.Write(t, c, "y", "1")
	vfstest.Write(t, d, "z", "1")
	require.NoError(t, main.Update(ctx, func(tx *vfs.Tx) error { return (*tree.Tx)(tx).ForkEmpty("empty") }))

	for _, tt := range []struct {
		name string
		a, b *vfs.FS
		want vfs.Moment
	}{
		{"a branch and its fork", main, b, first},
		{"a fork and a fork of it", b, c, second},
		{"a branch and a fork of its fork", main, c, first},
		{"two forks of a branch", b, d, first},
		{"a later fork", main, d, third},
		{"a tree and itself", b, b, b.Moment()},
		{"a head and a moment of it", main, at(t, main, first), first},
		{"two moments of a branch", at(t, main, third), at(t, main, first), first},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, pair := range [][2]*vfs.FS{{tt.a, tt.b}, {tt.b, tt.a}} {
				got, ok := baseOf(t, pair[0], pair[1])
				require.True(t, ok)
				require.Equal(t, tt.want, got)
			}
		})
	}
	_, ok := baseOf(t, main, branchOf(t, main, "empty"))
	require.False(t, ok)

	// A restore changes what a branch shows, and not where it comes from.
	require.NoError(t, b.Update(ctx, func(tx *vfs.Tx) error {
		on, err := (*tree.Tx)(tx).On((*tree.Tree)(main))
		require.NoError(t, err)
		putDelta(t, (*tree.Tx)(tx), on)
		return nil
	}))
	got, ok := baseOf(t, main, b)
	require.True(t, ok)
	require.Equal(t, first, got)

	// Nor does it matter to a fork that its branch is dropped.
	require.NoError(t, main.Update(ctx, func(tx *vfs.Tx) error { return (*tree.Tx)(tx).DropBranch("b") }))
	got, ok = baseOf(t, main, c)
	require.True(t, ok)
	require.Equal(t, first, got)
}

func baseOf(t *testing.T, a, b *vfs.FS) (base vfs.Moment, ok bool) {
	t.Helper()
	require.NoError(t, tree.ViewBoth(t.Context(), (*tree.Tree)(a), (*tree.Tree)(b), func(a, b *tree.Tx) error {
		base, ok = tree.Base(a, b)
		return nil
	}))
	return base, ok
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

func at(t *testing.T, fsys *vfs.FS, moment vfs.Moment) *vfs.FS {
	t.Helper()
	past, err := fsys.At(context.Background(), moment)
	require.NoError(t, err)
	return past
}

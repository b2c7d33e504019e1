package tree_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Two Txs of one transaction that stand on the same head see what the other does, however many trees the transaction
// looks at.
func TestOnManyTrees(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/f")
	sub, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	var snaps []*vfs.FS
	for i := range 12 {
		snaps = append(snaps, vfstest.Snapshot(t, fsys, fmt.Sprint("s", i)).FS)
	}
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		_, err := tx.Stat("d/f")
		require.NoError(t, err)
		_, err = tx.Stat("d/new")
		require.Error(t, err)
		for _, s := range snaps {
			_, err := vfstest.On(tx, s)
			require.NoError(t, err)
		}
		on, err := vfstest.On(tx, sub)
		require.NoError(t, err)
		require.NoError(t, on.WriteFile("new", []byte("new"), 0o644))
		require.NoError(t, on.Chmod("f", 0o777))
		f, err := tx.Stat("d/f")
		require.NoError(t, err)
		require.EqualValues(t, 0o777, f.Mode())
		got, err := tx.ReadFile("d/new")
		require.NoError(t, err)
		require.Equal(t, "new", string(got))
		return nil
	}))
}

// A comparison and a restore take into account what the transaction has done so far, to either tree.
func TestOnComparesWhatIsNotWritten(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f", "g")
	try := vfstest.Branch(t, fsys, "try")
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		on, err := vfstest.On(tx, try)
		require.NoError(t, err)
		require.NoError(t, tx.Chmod("f", 0o600))
		require.NoError(t, on.Chmod("g", 0o777))
		d, err := tree.Compare((*tree.Tx)(tx), (*tree.Tx)(on))
		require.NoError(t, err)
		require.Len(t, d.Inodes, 2)
		require.NoError(t, on.Chmod("g", 0o755))
		_, err = snapshot.RestoreIn(tx, try, "undo", "")
		return err
	}))
	require.Equal(t, vfstest.Dump(t, try), vfstest.Dump(t, fsys))
	require.Equal(t, []string{
		"chmod f", "snapshot . (undo)", "restore f 9ab388be->9ab388be", "restore g 805a31de->805a31de",
	}, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))
}

// A change below OpenRoot is recorded under the path that its directory has at that time.
func TestOnTellsWhereItIs(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/")
	sub, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		on, err := vfstest.On(tx, sub)
		require.NoError(t, err)
		require.NoError(t, on.WriteFile("x", nil, 0o644))
		require.NoError(t, tx.Rename("d", "e"))
		return on.WriteFile("y", nil, 0o644)
	}))
	require.Equal(t, []string{"mkdir d", "create d/x ->''", "rename e (d)", "create e/y ->''"}, vfstest.Log(t, fsys, nil))
}

// Changes of a tree that On returned for a Tx of On are recorded too: no number of the log is missing.
func TestOnOfOn(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	near, far := vfstest.Branch(t, fsys, "near"), vfstest.Branch(t, fsys, "far")
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		on, err := vfstest.On(tx, near)
		require.NoError(t, err)
		further, err := vfstest.On(on, far)
		require.NoError(t, err)
		for i, tx := range []*vfs.Tx{further, on, tx} {
			require.NoError(t, tx.Mkdir(fmt.Sprint("d", i), 0o755))
		}
		return nil
	}))
	for i, tree := range []*vfs.FS{far, near, fsys} {
		told := vfstest.Log(t, tree, nil)
		require.Equal(t, fmt.Sprint("mkdir d", i), told[len(told)-1])
	}
}

// Trees of two stores are not compared: what stands under the same numbers has nothing in common.
func TestCompareTwoStores(t *testing.T) {
	a, b := vfstest.New(t, "a"), vfstest.New(t, "b")
	require.NoError(t, a.View(t.Context(), func(x *vfs.Tx) error {
		return b.View(t.Context(), func(y *vfs.Tx) error {
			_, err := tree.Compare((*tree.Tx)(x), (*tree.Tx)(y))
			require.ErrorIs(t, err, syscall.EXDEV)
			return nil
		})
	}))
}

package tree_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// hold returns the tree of the present moment, and what ends that.
func hold(t *testing.T, fsys *vfs.FS) (*vfs.FS, func()) {
	t.Helper()
	held, release, err := (*tree.Tree)(fsys).Hold(t.Context())
	require.NoError(t, err)
	return (*vfs.FS)(held), release
}

// A held tree is what the branch was at the call, with what open files had not committed by then, whatever is written
// later, and although the branch is dropped.
func TestHold(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t, "kept")
	fsys := vfstest.Branch(t, main, "try")
	f, err := fsys.OpenFile(ctx, "open", os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("not committed"), 0)
	require.NoError(t, err)

	held, release := hold(t, fsys)
	again, releaseAgain := hold(t, held)
	require.NoError(t, f.Close())
	require.NoError(t, fsys.WriteFile(ctx, "open", []byte("later"), 0o600))
	require.NoError(t, fsys.Remove(ctx, "kept"))
	require.NoError(t, main.Update(ctx, func(tx *vfs.Tx) error { return (*tree.Tx)(tx).DropBranch("try") }))
	_, err = fsys.ReadFile(ctx, "open")
	require.ErrorIs(t, err, syscall.ESTALE)

	for _, held := range []*vfs.FS{held, again} {
		text, err := held.ReadFile(ctx, "open")
		require.NoError(t, err)
		require.Equal(t, "not committed", string(text))
		_, err = held.Stat(ctx, "kept")
		require.NoError(t, err)
		require.ErrorIs(t, held.Remove(ctx, "kept"), syscall.EROFS)
	}
	release()
	release()
	_, err = again.ReadFile(ctx, "open")
	require.NoError(t, err, "the other keeps it")
	releaseAgain()
}

// A directory that OpenRoot stands on can be held, and what has gone cannot.
func TestHoldOfPart(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/f")
	sub, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	held, release := hold(t, sub)
	defer release()
	require.NoError(t, fsys.RemoveAll(ctx, "d"))
	_, err = held.Stat(ctx, "f")
	require.NoError(t, err)

	past := vfstest.Snapshot(t, fsys, "s")
	require.NoError(t, snapshot.Delete(ctx, fsys, "s"))
	_, _, err = (*tree.Tree)(past.FS).Hold(ctx)
	require.ErrorIs(t, err, syscall.ESTALE)
}

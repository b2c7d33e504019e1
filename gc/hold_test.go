package gc_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A held moment of a branch that is dropped keeps what it has inherited from a collection, and can be forked. The fork keeps it
// then.
func TestHoldOfDroppedBranch(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t, "kept", "changed")
	fsys := vfstest.Branch(t, main, "try")
	require.NoError(t, fsys.WriteFile(ctx, "own", []byte("own"), 0o600))
	past, release, err := (*tree.Tree)(fsys).Hold(ctx)
	require.NoError(t, err)
	held := (*vfs.FS)(past)
	require.NoError(t, main.Remove(ctx, "kept"))
	require.NoError(t, main.WriteFile(ctx, "changed", []byte("later"), 0o600))
	require.NoError(t, fsys.Remove(ctx, "own"))
	require.NoError(t, snapshot.DeleteBranch(ctx, main, "try"))
	collect := func() {
		_, err := gc.Run(ctx, main, nil)
		require.NoError(t, err)
	}
	read := func(fsys *vfs.FS) {
		for name, content := range map[string]string{"kept": "kept", "changed": "changed", "own": "own"} {
			require.Equal(t, content, vfstest.Read(t, fsys, name))
		}
	}
	collect()
	read(held)

	again, err := snapshot.Branch(ctx, main, held, "again")
	require.NoError(t, err)
	release()
	collect()
	read(again)

	// Nothing holds it now.
	require.NoError(t, snapshot.DeleteBranch(ctx, main, "again"))
	_, err = snapshot.Branch(ctx, main, held, "third")
	require.ErrorIs(t, err, syscall.ESTALE)
}

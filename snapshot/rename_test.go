package snapshot_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
)

// The snapshots that an apply of a branch begins with follow its name, and no others do.
func TestRenameBranchTakesItsBases(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	try := fork(t, main, "try")
	for _, name := range []string{"try-base", "try-applied-0123abcd", "try-based", "own"} {
		vfstest.Snapshot(t, try, name)
	}
	vfstest.Snapshot(t, main, "try-applied-4567cdef")
	require.NoError(t, snapshot.RenameBranch(ctx, main, "try", "won"))
	require.ElementsMatch(t, []string{"own", "try-applied-4567cdef", "try-based", "won-applied-0123abcd", "won-base"}, names(t, main))

	// Where a name is taken, nothing has changed.
	vfstest.Snapshot(t, main, "third-base")
	require.ErrorIs(t, snapshot.RenameBranch(ctx, main, "won", "third"), fs.ErrExist)
	_, err := main.Branch(ctx, "won")
	require.NoError(t, err)
	s, err := snapshot.Open(ctx, main, "won-applied-0123abcd")
	require.NoError(t, err)
	require.Equal(t, "won", s.Info.Branch)
}

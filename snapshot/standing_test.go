package snapshot_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
)

// A standing names the base of a branch, and counts what it and main have changed since they were one.
func TestStandings(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "a", "one")
	base, err := snapshot.Create(ctx, fsys, "base", nil)
	require.NoError(t, err)
	vfstest.Write(t, fsys, "b", "two")
	try := fork(t, fsys, "try")
	old, err := snapshot.Branch(ctx, fsys, base, "old")
	require.NoError(t, err)
	_, err = snapshot.Branch(ctx, fsys, nil, "fresh")
	require.NoError(t, err)
	vfstest.Write(t, try, "c", "three")
	vfstest.Write(t, try, "a", "four")
	fork(t, try, "nested")
	fork(t, old, "same") // old has no changes of its own
	vfstest.Write(t, fsys, "d", "five")

	want := map[string]struct {
		base          string
		ahead, behind int
	}{
		"main": {"", -1, -1}, "fresh": {"", -1, -1},
		"try": {"main", 2, 1}, "old": {"main", 0, 2}, "nested": {"try", 2, 1}, "same": {"main", 0, 2},
	}
	list, err := snapshot.Standings(ctx, fsys)
	require.NoError(t, err)
	require.Len(t, list, len(want))
	for _, s := range list {
		w := want[s.Name]
		require.Equal(t, w.base, s.Base, s.Name)
		require.Equal(t, w.ahead, s.Ahead, s.Name)
		require.Equal(t, w.behind, s.Behind, s.Name)
		require.Equal(t, s.Name == "main" || s.Name == "try" || s.Name == "old", !s.Changed.IsZero(), s.Name)
	}

	// The base of a branch may be dropped.
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "try"))
	list, err = snapshot.Standings(ctx, fsys)
	require.NoError(t, err)
	for _, s := range list {
		if s.Name == "nested" {
			require.Equal(t, snapshot.Standing{Branch: s.Branch, Ahead: 2, Behind: 1}, s)
			require.Equal(t, "", s.Base)
		}
	}
}

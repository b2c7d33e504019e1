package snapshot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// standings returns the base of each branch, and how far it is ahead of main and behind.
func standings(t *testing.T, fsys *vfs.FS) map[string]string {
	t.Helper()
	list, err := snapshot.Standings(t.Context(), fsys)
	require.NoError(t, err)
	found := make(map[string]string)
	for _, s := range list {
		found[s.Name] = fmt.Sprint(s.Base, " ", s.Ahead, " ", s.Behind)
	}
	return found
}

// A standing names the base of a branch, and counts the calls that it and main do not have in common.
func TestStandings(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	call(t, main, "a", "one")
	base, err := snapshot.Create(ctx, main, "base", nil)
	require.NoError(t, err)
	call(t, main, "b", "two")
	try := fork(t, main, "try")
	old, err := snapshot.Branch(ctx, main, base, "old")
	require.NoError(t, err)
	_, err = snapshot.Branch(ctx, main, nil, "fresh")
	require.NoError(t, err)
	call(t, try, "c", "three")
	call(t, try, "a", "four")
	fork(t, try, "nested")
	fork(t, old, "same") // old has no changes of its own
	call(t, main, "d", "five")

	want := map[string]string{
		"main": " -1 -1", "fresh": " -1 -1", "try": "main 2 1", "old": "main 0 2", "nested": "try 2 1", "same": "main 0 2",
	}
	require.Equal(t, want, standings(t, main))
	list, err := snapshot.Standings(ctx, main)
	require.NoError(t, err)
	for _, s := range list {
		require.Equal(t, s.Name == "main" || s.Name == "try", !s.Changed.IsZero(), s.Name)
	}

	// The base of a branch may be dropped.
	require.NoError(t, snapshot.DeleteBranch(ctx, main, "try"))
	delete(want, "try")
	want["nested"] = " 2 1"
	require.Equal(t, want, standings(t, main))

	// What a branch became is not ahead of it.
	nested, err := main.Branch(ctx, "nested")
	require.NoError(t, err)
	_, err = snapshot.Restore(in(t, "restore"), nested, main)
	require.NoError(t, err)
	require.Equal(t, " 3 0", standings(t, main)["nested"])
	call(t, nested, "e", "six")
	_, err = snapshot.Restore(in(t, "restore"), main, nested)
	require.NoError(t, err)
	require.Equal(t, " 0 1", standings(t, main)["nested"])
	require.Equal(t, "main 0 7", standings(t, main)["old"])
}

// What is part of no call counts as one.
func TestStandingsWithoutCalls(t *testing.T) {
	main := vfstest.New(t)
	vfstest.Write(t, main, "a", "one")
	try := fork(t, main, "try")
	require.Equal(t, "main 0 0", standings(t, main)["try"])
	vfstest.Write(t, try, "b", "two")
	require.Equal(t, "main 1 0", standings(t, main)["try"])
	vfstest.Write(t, main, "c", "three")
	vfstest.Write(t, main, "c", "four")
	require.Equal(t, "main 1 1", standings(t, main)["try"])
	call(t, try, "d", "five")
	call(t, try, "d", "six")
	require.Equal(t, "main 2 1", standings(t, main)["try"])
	_, err := snapshot.Restore(t.Context(), main, try)
	require.NoError(t, err)
	require.Equal(t, "main 0 1", standings(t, main)["try"])

	// It counts for the time of the last change too.
	changed := func() time.Time {
		list, err := snapshot.Standings(t.Context(), main)
		require.NoError(t, err)
		return list[1].Changed
	}
	last := changed()
	vfstest.Write(t, try, "e", "seven")
	require.True(t, changed().After(last))
	fork(t, main, "plain")
	plain, err := main.Branch(t.Context(), "plain")
	require.NoError(t, err)
	vfstest.Write(t, plain, "f", "eight")
	list, err := snapshot.Standings(t.Context(), main)
	require.NoError(t, err)
	require.True(t, list[2].Changed.After(changed()))
}

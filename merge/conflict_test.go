package merge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/merge"
)

// Conflicts compose and cancel: a side that has resolved one resolves it where it is merged.
func TestMergeResolved(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a 1\n")
	try := fork(t, main, "try")
	change(t, main, "w a 2\n")
	change(t, try, "w a 3\n")
	into(t, main, try)
	require.Equal(t, []string{"a: content"}, conflicted(t, main))

	for side, want := range []string{"1\n", "2\n", "3\n"} {
		data, err := merge.Content(ctx, main, "a", merge.Side(side))
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	text, err := merge.Markers(ctx, main, "a")
	require.NoError(t, err)
	require.Contains(t, string(text), "||||||| base\n1\n=======\n3\n>>>>>>> try\n")

	// A fork has the conflict. Resolved there, it is resolved in main, which has changed something else.
	other := fork(t, main, "other")
	require.Equal(t, []string{"a: content"}, conflicted(t, other))
	_, err = gc.Run(ctx, main, nil)
	require.NoError(t, err)
	require.NoError(t, merge.Resolve(ctx, other, "a", merge.Take{Side: merge.Theirs}))
	require.Equal(t, []string{"a=3|"}, texts(t, other))
	change(t, main, "w b 1")
	into(t, main, other)
	require.Empty(t, conflicted(t, main))
	require.Equal(t, []string{"a=3|", "b=1"}, texts(t, main))
}

// A conflict of several merges shows the state that was merged last, not one that a resolution of an earlier conflict left.
func TestMergeShowsTheLast(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a 0\n")
	two := fork(t, main, "two")
	change(t, two, "w a 5\n")
	change(t, main, "w a 1\n")
	one := fork(t, main, "one")
	change(t, one, "w a 3\n")
	change(t, main, "w a 2\n")
	into(t, main, one)

	source, target := fork(t, main, "source"), fork(t, main, "target")
	require.NoError(t, merge.Resolve(ctx, target, "a", merge.Take{Side: merge.Ours}))
	require.NoError(t, merge.Resolve(ctx, source, "a", merge.Take{Data: []byte("4\n")}))
	into(t, source, two)
	r := into(t, target, source)
	require.Len(t, r.Conflicts, 1)
	require.Equal(t, "two", r.Conflicts[0].TheirsLabel)
	for side, want := range []string{"0\n", "4\n", "5\n"} {
		data, err := merge.Content(ctx, target, "a", merge.Side(side))
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
}

// A conflict names the side that was merged, whichever of the two removed the file.
func TestConflictNamesTheSource(t *testing.T) {
	for _, steps := range [][2]string{{"rm a", "w a 2"}, {"w a 2", "rm a"}} {
		main := vfstest.New(t)
		change(t, main, "w a 1")
		try := fork(t, main, "try")
		change(t, main, steps[0])
		change(t, try, steps[1])
		r := into(t, main, try)
		require.Len(t, r.Conflicts, 1)
		require.Equal(t, "try", r.Conflicts[0].TheirsLabel)
		require.Equal(t, steps[0] == "rm a", r.Conflicts[0].Ours == nil)
		require.Equal(t, steps[1] == "rm a", r.Conflicts[0].Theirs == nil)
	}
}

package merge_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/history"
	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/snapshot"
)

// A second merge of a branch brings only what is new, and a merge back only the other side's changes.
func TestMergeAgain(t *testing.T) {
	main := vfstest.New(t)
	change(t, main, "w a "+five)
	try := fork(t, main, "try")
	change(t, try, "w a 0\n2\n3\n4\n5\n")
	change(t, main, "w b 1")
	into(t, main, try)

	// Line 1 of main comes after the merge, so it is no conflict with what try had before.
	change(t, main, "w a x\n2\n3\n4\n5\n")
	change(t, try, "w a 0\n2\n3\n4\n6\n")
	r := into(t, main, try)
	require.Equal(t, []string{"a=x|2|3|4|6|", "b=1"}, texts(t, main))
	require.Empty(t, r.Conflicts)
	require.Len(t, r.Changes, 1)
	require.True(t, into(t, try, main).FastForward)
	require.Equal(t, texts(t, main), texts(t, try))
}

// A merge that a restore has undone can be made again; one that the restore does not concern is not made twice.
func TestMergeAfterRestore(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a 1", "w b 1")
	try := fork(t, main, "try")
	change(t, try, "w a 2")
	change(t, main, "w b 2")
	r := into(t, main, try)
	undo, err := snapshot.Open(ctx, main, r.Undo)
	require.NoError(t, err)
	_, err = snapshot.Restore(ctx, main, undo)
	require.NoError(t, err)
	require.Equal(t, []string{"a=1", "b=2"}, texts(t, main))

	require.False(t, into(t, main, try).UpToDate)
	require.Equal(t, []string{"a=2", "b=2"}, texts(t, main))
	_, err = snapshot.Create(ctx, main, "merged", nil)
	require.NoError(t, err)
	change(t, main, "w b 3")
	merged, err := snapshot.Open(ctx, main, "merged")
	require.NoError(t, err)
	_, err = snapshot.Restore(ctx, main, merged)
	require.NoError(t, err)
	require.True(t, into(t, main, try).UpToDate)
}

// A branch that was restored to what another is goes on from there.
func TestMergeAfterAdoption(t *testing.T) {
	main := vfstest.New(t)
	change(t, main, "w a 1\n")
	try := fork(t, main, "try")
	change(t, try, "w a 2\n")
	_, err := snapshot.Restore(t.Context(), main, try)
	require.NoError(t, err)
	change(t, try, "w a 3\n")
	change(t, main, "w b 1")
	r := into(t, main, try)
	require.Empty(t, r.Conflicts)
	require.Equal(t, []string{"a=3|", "b=1"}, texts(t, main))
}

// Each side has taken in the other's past, so there are two bases, in which one file differs.
func TestMergeCrissCross(t *testing.T) {
	for _, tt := range []struct {
		name, ours, theirs, merged string
	}{
		{"apart", "w a 0\n2\n3\n4\n5\n", "w b 1", "w a 0\n2\n3\n4\n9\n"},
		{"one text", "w a 0\n2\n3\n4\n5\n", "w a 1\n2\n3\n4\n6\n", "w a 0\n2\n7\n4\n6\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			main := vfstest.New(t)
			change(t, main, "w a "+five)
			try := fork(t, main, "try")
			change(t, main, tt.ours)
			change(t, try, tt.theirs)
			ours, err := snapshot.Create(ctx, main, "ours", nil)
			require.NoError(t, err)
			theirs, err := snapshot.Create(ctx, try, "theirs", nil)
			require.NoError(t, err)
			into(t, main, theirs)
			into(t, try, ours)
			require.Equal(t, texts(t, main), texts(t, try))

			change(t, main, tt.merged)
			change(t, try, "w c 1")
			r := into(t, main, try)
			require.Len(t, r.Base, 2)
			require.Empty(t, r.Conflicts)
			require.Contains(t, texts(t, main), "c=1")
			vfstest.Check(t, main)
		})
	}
}

// A fork that is deeper than lineages are long has a common moment with each of the branches that it comes from.
func TestMergeSquashed(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a 0\n")
	at, middle := main, main
	for i := range history.MaxDepth + 4 {
		at = fork(t, at, fmt.Sprintf("deep%d", i))
		change(t, at, fmt.Sprintf("w a %d\n", i+1), fmt.Sprintf("w file%d x", i))
		if i == 5 {
			middle = at
		}
	}
	_, err := gc.Run(ctx, main, nil)
	require.NoError(t, err)
	change(t, middle, "w other 1")
	change(t, at, "w a end\n")
	r := into(t, middle, at)
	require.Empty(t, r.Conflicts)
	require.Contains(t, texts(t, middle), "a=end|")
	require.Contains(t, texts(t, middle), "other=1")
	require.True(t, into(t, at, middle).FastForward)
}

// A file that a merge put beside another one is not what that one becomes, whatever changes later.
func TestMergeBeside(t *testing.T) {
	main := vfstest.New(t)
	change(t, main, "w b 1", "w d/f 1")
	try := fork(t, main, "try")
	change(t, main, "mv b a", "mv d e")
	change(t, try, "w a 2", "w e 2")
	into(t, main, try)
	want := []string{"a=1", "a~try=2", "e/f=1", "e~try=2"}
	require.Equal(t, want, texts(t, main))
	require.Equal(t, []string{"a: content", "e: content"}, conflicted(t, main))

	change(t, try, "chmod b", "chmod d")
	into(t, main, try)
	require.Equal(t, want, texts(t, main))
	require.Equal(t, []string{"a: content", "e: content"}, conflicted(t, main))

	change(t, try, "w b 3")
	into(t, main, try)
	require.Equal(t, "a=3", texts(t, main)[0])
	require.Equal(t, []string{"a: content", "e: content"}, conflicted(t, main))
	for path, text := range map[string]string{"a": "3", "e": ""} {
		require.NoError(t, merge.Resolve(t.Context(), main, path, merge.Take{Side: merge.Ours}), text)
	}
	require.Equal(t, []string{"a=3", "e/f=1"}, texts(t, main))
}

// A branch has taken in another and kept its own state in all, so it has no rows of its own. A fork of it has taken in the
// other one too: where both branches were merged, the moment of the fork is the base.
func TestMergeForkOfEmptyMerge(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a 1\n")
	other := fork(t, main, "other")
	change(t, other, "w a 2\n")
	change(t, main, "w a 3\n")
	source, target := fork(t, main, "source"), fork(t, main, "target")
	_, err := merge.Into(ctx, source, other, &merge.Options{Prefer: merge.Ours})
	require.NoError(t, err)
	require.Zero(t, vfstest.Number(t, main, `SELECT count(*) FROM inode WHERE branch = ?`, source.Moment().Branch))

	into(t, target, other)
	into(t, target, source)
	back := fork(t, source, "back")
	require.True(t, into(t, back, target).FastForward)
	require.Equal(t, texts(t, target), texts(t, back))
}

// A branch that was forked empty has nothing in common with others.
func TestMergeForkedEmpty(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w d/a 1", "w b 1")
	empty, err := snapshot.Branch(ctx, main, nil, "try")
	require.NoError(t, err)
	change(t, empty, "w d/c 2", "w b 2")
	r := into(t, main, empty)
	require.Empty(t, r.Base)
	require.Equal(t, []string{"b=1", "b~try=2", "d/a=1", "d/c=2"}, texts(t, main))
	require.Equal(t, []string{"b: content"}, conflicted(t, main))
}

// A collection keeps the bases while both branches live, and gives them back afterwards.
func TestMergesKeepTheirMoments(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a "+five)
	try := fork(t, main, "try")
	change(t, try, "w a 0\n2\n3\n4\n5\n")
	change(t, main, "w b 1")
	into(t, main, try)
	change(t, try, "w a 0\n2\n3\n4\n6\n")
	change(t, main, "w a x\n2\n3\n4\n5\n")
	_, err := gc.Run(ctx, main, nil)
	require.NoError(t, err)
	require.Empty(t, into(t, main, try).Conflicts)
	require.Contains(t, texts(t, main), "a=x|2|3|4|6|")

	require.NoError(t, snapshot.DeleteBranch(ctx, main, "try"))
	_, err = gc.Run(ctx, main, nil)
	require.NoError(t, err)
	require.Zero(t, vfstest.Number(t, main, `SELECT count(*) FROM merge`))
}

// A fork of a branch that is gone still has its moments in common with where that was merged.
func TestMergeForkOfDropped(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a 1\n")
	try := fork(t, main, "try")
	change(t, try, "w a 2\n")
	into(t, main, try)
	change(t, try, "w c 1")
	leaf := fork(t, try, "leaf")
	require.NoError(t, snapshot.DeleteBranch(ctx, main, "try"))
	_, err := gc.Run(ctx, main, nil)
	require.NoError(t, err)
	change(t, main, "w a 3\n")
	change(t, leaf, "w b 1")
	r := into(t, main, leaf)
	require.Empty(t, r.Conflicts)
	require.Equal(t, []string{"a=3|", "b=1", "c=1"}, texts(t, main))
}

// To find the base of two branches costs about the same however many others were merged before.
func TestMergeAmongManyBranches(t *testing.T) {
	cost := func(branches int) float64 {
		main := vfstest.New(t)
		for i := range branches {
			try := fork(t, main, fmt.Sprint("try", i))
			change(t, try, fmt.Sprintf("w f%d %d", i%5, i))
			into(t, main, try)
		}
		change(t, main, "w a 1")
		last := fork(t, main, "last")
		change(t, last, "w b 2")
		change(t, main, "w c 3")
		return testing.AllocsPerRun(1, func() {
			r, err := merge.Into(t.Context(), main, last, &merge.Options{DryRun: true})
			require.NoError(t, err)
			require.Len(t, r.Base, 1)
		})
	}
	few, many := cost(20), cost(160)
	require.Less(t, many, 2*few)
}

package gc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A collection leaves the newest changes and calls as they were.
func TestTrim(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	for i := range 3000 {
		under := vfs.WithCall(ctx, &vfs.Call{Session: fmt.Sprint(i)})
		require.NoError(t, fsys.WriteFile(under, fmt.Sprintf("f%d", i%3), fmt.Append(nil, i), 0o644))
	}
	before, err := fsys.Log(ctx, nil)
	require.NoError(t, err)
	require.Len(t, before, 3000)
	o := &gc.Options{KeepChanges: 100, DryRun: true}
	report, err := gc.Run(ctx, fsys, o)
	require.NoError(t, err)
	require.EqualValues(t, 2900, report.Changes)
	require.EqualValues(t, 2900, report.Calls)
	for _, all := range []*gc.Options{nil, {KeepChanges: -1}} {
		report, err = gc.Run(ctx, fsys, all)
		require.NoError(t, err)
		require.Zero(t, report.Changes+report.Calls)
	}
	o.DryRun = false
	report, err = gc.Run(ctx, fsys, o)
	require.NoError(t, err)
	require.EqualValues(t, 2900, report.Changes)
	require.EqualValues(t, 2900, report.Calls)
	vfstest.Check(t, fsys)
	kept, err := fsys.Log(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, before[2900:], kept, "contents before too, though the rows that told them are gone")
	vfstest.Write(t, fsys, "f0", "more")
	last, err := fsys.Log(ctx, &vfs.LogOptions{Newest: true, Max: 1})
	require.NoError(t, err)
	require.Equal(t, vfs.SumOf([]byte("2997")), *last[0].Before)

	// A watcher that has missed some gets an error that says where to go on.
	var trimmed *vfs.TrimmedError
	for _, err := range fsys.Watch(ctx, "", before[10].Seq) {
		require.ErrorAs(t, err, &trimmed)
	}
	require.Equal(t, kept[0].Seq-1, trimmed.Since)
	for _, since := range []int64{0, trimmed.Since} {
		for e, err := range fsys.Watch(ctx, "", since) {
			require.NoError(t, err)
			require.Equal(t, kept[0], e)
			break
		}
	}

	// A file in which no change is left still numbers on.
	trimmer := (*tree.Tree)(fsys).Store().Journal().NewTrimmer(0, false)
	for done := false; !done; {
		step, err := trimmer.Step(ctx, 30)
		require.NoError(t, err)
		require.LessOrEqual(t, step.Count, 30)
		done = step.Done
	}
	vfstest.Check(t, fsys)
	seq, err := fsys.Seq(ctx)
	require.NoError(t, err)
	require.Equal(t, last[0].Seq, seq)
	vfstest.Write(t, fsys, "f1", "more")
	lines, next := vfstest.Take(t, fsys, "", seq, 1)
	require.Len(t, lines, 1)
	require.Equal(t, seq+1, next)
}

// The changes of a branch are kept when the branch is dropped, and when no row of it is left.
func TestChangesOutliveTheirBranch(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	try, err := snapshot.Branch(ctx, fsys, fsys, "try")
	require.NoError(t, err)
	vfstest.Write(t, try, "b", "one")
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "try"))
	vfstest.Check(t, fsys)
	report, err := gc.Run(ctx, fsys, nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, report.Branches)
	require.NoError(t, (*tree.Tree)(fsys).DB().View(ctx, func(tx *schema.Tx) error {
		n, _, err := tx.Int(`SELECT count(*) FROM change WHERE branch = 1025`)
		require.EqualValues(t, 1, n)
		return err
	}))
}

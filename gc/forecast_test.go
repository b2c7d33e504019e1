package gc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	historian "vfsdb/history"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/tree"
)

// A DryRun counts as a collection does, and changes nothing.
func TestDryRun(t *testing.T) {
	for _, history := range []string{"none", "snapshot", "branch", "dropped"} {
		t.Run(history, func(t *testing.T) {
			fsys := vfstest.New(t, "keep", "dir/x", "dir/y", "old/1", "old/sub/2")
			ctx := t.Context()
			write(t, fsys, "old/big", noise(1, big))
			require.NoError(t, fsys.Link(ctx, "dir/x", "old/sub/x"))
			switch history {
			case "snapshot":
				vfstest.Snapshot(t, fsys, "s")
			case "branch":
				vfstest.Branch(t, fsys, "b")
			case "dropped":
				b := vfstest.Branch(t, fsys, "b")
				write(t, b, "more", noise(7, big))
				vfstest.Branch(t, b, "below")
				write(t, b, "yet/more", noise(8, big))
				require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "b"))
				vfstest.Snapshot(t, fsys, "s")
				write(t, fsys, "old/big", noise(2, big))
				vfstest.Snapshot(t, fsys, "s2")
				write(t, fsys, "dir/y", noise(3, big))
				require.NoError(t, snapshot.Delete(ctx, fsys, "s2"))
			}
			write(t, fsys, "dir/y", noise(2, big))
			write(t, fsys, "dir/y", noise(3, 5))
			require.NoError(t, fsys.RemoveAll(ctx, "old"))
			tables := []string{"inode", "dirent", "blob", "manifest", "orphan", "branch", "touched", "doomed"}
			var before []int64
			for _, table := range tables {
				before = append(before, count(t, fsys, table))
			}
			forecast, err := gc.Run(ctx, fsys, &gc.Options{DryRun: true})
			require.NoError(t, err)
			require.Zero(t, forecast.Steps)
			for i, table := range tables {
				require.Equal(t, before[i], count(t, fsys, table), table)
			}
			report := run(t, fsys)
			require.Zero(t, report.Changes)
			report.Steps, report.LongestStep, report.Pages = 0, 0, 0
			require.Equal(t, report, forecast)
			clean(t, fsys)
		})
	}
}

// A DryRun does not foresee what only the note of a merge keeps. A collection drops a note that serves no more, and frees that.
func TestDryRunOfMerges(t *testing.T) {
	fsys := vfstest.New(t, "keep")
	ctx := t.Context()
	b := vfstest.Branch(t, fsys, "b")
	write(t, b, "more", noise(1, big))
	merged := vfstest.Snapshot(t, b, "merged").Moment()
	require.NoError(t, (*tree.Tree)(fsys).DB().Update(ctx, func(tx *schema.Tx) error {
		return historian.AddMerge(tx, fsys.Moment().Branch, merged)
	}))
	require.NoError(t, snapshot.Delete(ctx, fsys, "merged"))
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "b"))

	forecast, err := gc.Run(ctx, fsys, &gc.Options{DryRun: true})
	require.NoError(t, err)
	require.Zero(t, forecast.Bytes)
	require.GreaterOrEqual(t, run(t, fsys).Bytes, int64(big))
	clean(t, fsys)
}

package snapshot_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/history"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// took names the present moment of a branch, as if that had been some days ago.
func took(t testing.TB, fsys *vfs.FS, days int, note string, names ...string) {
	t.Helper()
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i, name := range names {
			at, err := (*tree.Tx)(tx).Freeze()
			if err != nil {
				return err
			}
			created := time.Now().AddDate(0, 0, -days).Add(time.Duration(i) * time.Millisecond)
			if err := history.AddSnapshot((*tree.Tx)(tx).DB(), name, at, created, note); err != nil {
				return err
			}
		}
		return nil
	}))
}

// names lists the snapshots of the store.
func names(t testing.TB, fsys *vfs.FS) (list []string) {
	t.Helper()
	all, err := snapshot.List(t.Context(), fsys)
	require.NoError(t, err)
	for _, s := range all {
		list = append(list, s.Name)
	}
	return list
}

func dropped(p *snapshot.Pruned) (list []string) {
	for _, s := range p.Dropped {
		list = append(list, s.Name)
	}
	return list
}

func TestPrune(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "f")
	took(t, fsys, 9, "", "nine", "nine-too")
	past, err := snapshot.Open(ctx, fsys, "nine")
	require.NoError(t, err)
	try := fork(t, past, "try")
	took(t, try, 8, "", "eight-of-try")
	took(t, fsys, 5, "the release", "five")
	write(t, fsys, "f", "new")
	took(t, fsys, 2, "", "two")
	took(t, try, 1, "", "one-of-try")
	all := names(t, fsys)

	// A dry run reports the same, and changes nothing.
	o := &snapshot.PruneOptions{Policy: snapshot.Policy{Last: 1, Notes: []string{"release"}}, DryRun: true}
	fsys.Store().SetReadOnly(true)
	plan, err := snapshot.Prune(ctx, fsys, o)
	fsys.Store().SetReadOnly(false)
	require.NoError(t, err)
	require.Equal(t, all, names(t, fsys))
	since, err := fsys.Seq(ctx)
	require.NoError(t, err)

	o.DryRun = false
	done, err := snapshot.Prune(ctx, fsys, o)
	require.NoError(t, err)
	require.Equal(t, plan, done)
	require.Equal(t, []string{"nine", "nine-too"}, dropped(done))
	require.Equal(t, "five", done.Kept[0].Name)
	require.Equal(t, []string{`note "release"`}, done.Kept[0].Reasons)
	require.Equal(t, []string{"last"}, done.Kept[1].Reasons)
	require.Equal(t, []string{"eight-of-try", "five", "two", "one-of-try"}, names(t, fsys))
	require.Equal(t, []string{"snapshot-delete . (nine)", "snapshot-delete . (nine-too)"}, vfstest.Log(t, fsys, &vfs.LogOptions{Since: since}))

	// What was forked there stays, also after a collection, and the name is free.
	collect(t, fsys)
	require.Equal(t, "f", read(t, try, "f"))
	create(t, fsys, "nine")

	// All branches, each by itself, with the events on their own branch.
	o = &snapshot.PruneOptions{Policy: snapshot.Policy{Last: 1}, All: true}
	done, err = snapshot.Prune(ctx, fsys, o)
	require.NoError(t, err)
	require.Equal(t, []string{"eight-of-try", "five", "two"}, dropped(done))
	require.Equal(t, []string{"one-of-try", "nine"}, names(t, fsys))
	require.Contains(t, vfstest.Log(t, try, &vfs.LogOptions{Since: since}), "snapshot-delete . (eight-of-try)")
	done, err = snapshot.Prune(ctx, fsys, o)
	require.NoError(t, err)
	require.Empty(t, done.Dropped)
}

// Automatic snapshots have a policy of their own, and neither kind counts for the other.
func TestPruneAutomatic(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "f")
	var undo []string
	for i := range 98 {
		undo = append(undo, fmt.Sprintf("undo-20260101-000000-%08x", i))
	}
	took(t, fsys, 400, "", "mine")
	took(t, fsys, 300, "", undo...)
	took(t, fsys, 200, "automatic: before edit", "auto-1")
	took(t, fsys, 100, "not of a session", "auto-mine", "undo-mine")
	took(t, fsys, 20, "", "undo-20260201-000000-00000000", "undo-20260201-000000-00000001")

	done, err := snapshot.Prune(ctx, fsys, nil)
	require.NoError(t, err)
	require.Equal(t, undo[:1], dropped(done), "the newest hundred stay")
	require.Len(t, done.Kept, 100, "and the others are none of its business")

	// The newest hundred are newer than 30 days: so all others that are stay too.
	for i := range 100 {
		took(t, fsys, 0, "", fmt.Sprintf("undo-20260301-000000-%08x", i))
	}
	done, err = snapshot.Prune(ctx, fsys, nil)
	require.NoError(t, err)
	require.Len(t, done.Dropped, 98)
	require.Contains(t, names(t, fsys), "undo-20260201-000000-00000001")
	require.NotContains(t, names(t, fsys), "auto-1")

	done, err = snapshot.Prune(ctx, fsys, &snapshot.PruneOptions{Policy: snapshot.Policy{Last: 2}, Automatic: snapshot.Policy{Daily: 1}})
	require.NoError(t, err)
	require.Len(t, done.Kept, 3)
	require.Equal(t, []string{"auto-mine", "undo-mine", "undo-20260301-000000-00000063"}, names(t, fsys))

	// A restore leaves one that can be taken back after a prune.
	s, err := snapshot.Open(ctx, fsys, "undo-mine")
	require.NoError(t, err)
	write(t, fsys, "f", "lost")
	back, err := snapshot.Restore(ctx, fsys, s)
	require.NoError(t, err)
	require.True(t, back.Info.Automatic())
	require.False(t, s.Info.Automatic())
	_, err = snapshot.Prune(ctx, fsys, &snapshot.PruneOptions{Policy: snapshot.Policy{Last: 1}, All: true})
	require.NoError(t, err)
	_, err = snapshot.Restore(ctx, fsys, back)
	require.NoError(t, err)
	require.Equal(t, "lost", read(t, fsys, "f"))
}

func TestPruneRefuses(t *testing.T) {
	ctx := t.Context()
	fsys := newFS(t, "f")
	s := create(t, fsys, "s")
	try := fork(t, fsys, "try")
	took(t, try, 1, "release", "t1", "t2")
	for name, o := range map[string]snapshot.PruneOptions{
		"a branch that would lose all": {Policy: snapshot.Policy{Notes: []string{"release"}}, All: true},
		"an empty note":                {Policy: snapshot.Policy{Last: 1, Notes: []string{""}}},
		"a span below nothing":         {Automatic: snapshot.Policy{Within: snapshot.Span{Days: -1}}},
		"a span beyond time":           {Policy: snapshot.Policy{Within: snapshot.Span{Hours: 1 << 60}}},
	} {
		_, err := snapshot.Prune(ctx, fsys, &o)
		require.ErrorIs(t, err, syscall.EINVAL, name)
	}
	_, err := snapshot.Prune(ctx, s.FS, nil)
	require.ErrorIs(t, err, syscall.EROFS)
	require.Equal(t, []string{"s", "t1", "t2"}, names(t, fsys))
}

func BenchmarkPrune(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		fsys := vfstest.New(b)
		list := make([]string, 10_000)
		for i := range list {
			list[i] = fmt.Sprintf("snapshot-%d", i)
		}
		took(b, fsys, 1, "", list...)
		b.StartTimer()
		done, err := snapshot.Prune(b.Context(), fsys, &snapshot.PruneOptions{Policy: snapshot.Policy{Last: 100, Hourly: 10, Daily: 10}})
		require.NoError(b, err)
		require.Len(b, done.Dropped, 9900-1)
	}
}

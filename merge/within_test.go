package merge_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A merge within a transaction commits with it, or not at all. Its label names the source.
func TestMergeWithin(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "w a one\n", "w b one\n")
	try := fork(t, main, "try")
	change(t, main, "w a ours\n", "w new 1\n")
	change(t, try, "w a theirs\n", "w b theirs\n", "w new 2\n")

	stop := errors.New("stop")
	err := main.Update(ctx, func(tx *vfs.Tx) error {
		r, err := merge.IntoIn(tx, try, nil)
		require.NoError(t, err)
		require.Len(t, r.Changes, 2)
		require.Len(t, r.Conflicts, 2)
		return stop
	})
	require.Equal(t, stop, err)
	require.Equal(t, []string{"a=ours|", "b=one|", "new=1|"}, texts(t, main))
	list, err := snapshot.List(ctx, main)
	require.NoError(t, err)
	require.Empty(t, list)

	err = main.Update(ctx, func(tx *vfs.Tx) error {
		_, err := merge.IntoIn(tx, try, &merge.Options{Label: "call 7"})
		if err != nil {
			return err
		}
		all, err := merge.ConflictsIn(tx)
		require.NoError(t, err)
		require.Len(t, all, 2)
		require.Equal(t, "call 7", all[0].TheirsLabel)
		for side, want := range map[merge.Side]string{merge.Base: "one\n", merge.Ours: "ours\n", merge.Theirs: "theirs\n"} {
			data, err := merge.ContentIn(tx, all[0], side)
			require.NoError(t, err)
			require.Equal(t, want, string(data))
		}
		_, err = merge.ContentIn(tx, all[1], merge.Base)
		require.ErrorIs(t, err, fs.ErrNotExist)
		return merge.ResolveIn(tx, "a", merge.Take{Side: merge.Theirs})
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a=theirs|", "b=theirs|", "new=1|", "new~call 7=2|"}, texts(t, main))
	err = main.Update(ctx, func(tx *vfs.Tx) error { return merge.ResolveIn(tx, "a", merge.Take{}) })
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "resolve a: ")

	_, err = merge.Into(ctx, main, try, &merge.Options{Label: "a\x00b"})
	require.ErrorIs(t, err, syscall.EINVAL)
	other := vfstest.New(t)
	err = main.Update(ctx, func(tx *vfs.Tx) error {
		_, err := merge.IntoIn(tx, other, nil)
		return err
	})
	require.ErrorIs(t, err, syscall.EXDEV)
}

// A result separates the conflicts that this merge made from those that were there.
func TestMergeAdds(t *testing.T) {
	main := vfstest.New(t)
	change(t, main, "w a one\n", "w b one\n", "w c one\n")
	first, second := fork(t, main, "first"), fork(t, main, "second")
	change(t, main, "w a ours\n", "w b ours\n")
	change(t, first, "w a 1\n")
	change(t, second, "w b 2\n")

	paths := func(list []merge.Conflict) (paths []string) {
		for _, c := range list {
			paths = append(paths, c.Path)
		}
		return paths
	}
	r := into(t, main, first)
	require.Equal(t, []string{"a"}, paths(r.Added))
	r = into(t, main, second)
	require.Equal(t, []string{"b"}, paths(r.Added))
	require.Equal(t, []string{"a", "b"}, paths(r.Conflicts))

	change(t, first, "w a 11\n")
	require.Equal(t, []string{"a"}, paths(into(t, main, first).Added), "it has another state of theirs")
	change(t, first, "w c 3\n")
	r = into(t, main, first)
	require.Empty(t, r.Added)
	require.Len(t, r.Conflicts, 2)
	r = into(t, main, first)
	require.True(t, r.UpToDate)
	require.Empty(t, r.Added)
}

package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A log of more than one window is read whole, in both directions and from any place, and a transaction of many changes
// is written whole and in order.
func TestLongLog(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	const count = 40_000
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for i := range count {
			if err := (*tree.Tx)(tx).Record("note", fmt.Sprintf("d%d/f%d", i%100, i), ""); err != nil {
				return err
			}
		}
		return nil
	}))
	numbers := func(o *vfs.LogOptions) (list []int) {
		events, err := fsys.Log(ctx, o)
		require.NoError(t, err)
		for i, e := range events {
			var dir, n int
			_, err := fmt.Sscanf(e.Path, "d%d/f%d", &dir, &n)
			list = append(list, n)
			if err != nil || e.Seq != int64(1024+n) || i > 0 && o.Newest != (list[i-1] > n) {
				t.Fatalf("event %d is %d %s", i, e.Seq, e.Path)
			}
		}
		return list
	}
	require.Len(t, numbers(&vfs.LogOptions{}), count)
	require.Len(t, numbers(&vfs.LogOptions{Newest: true}), count)
	require.Len(t, numbers(&vfs.LogOptions{Path: "d7"}), count/100)
	require.Equal(t, []int{39907, 39807}, numbers(&vfs.LogOptions{Path: "/d7", Newest: true, Max: 2}))
	require.Equal(t, []int{107, 207}, numbers(&vfs.LogOptions{Path: "d7", Since: 1024 + 7, Max: 2}))
	require.Equal(t, []int{30007, 29907}, numbers(&vfs.LogOptions{Path: "d7", Until: 1024 + 30008, Newest: true, Max: 2}))
	require.Empty(t, numbers(&vfs.LogOptions{Path: "d77/f7"}))
	require.Empty(t, numbers(&vfs.LogOptions{Since: 1024 + count}))

	lines, last := vfstest.Take(t, fsys, "d99", 0, count/100)
	require.Len(t, lines, count/100)
	require.EqualValues(t, 1024+count-1, last)
}

// A path is followed back through the names that it had.
func TestLogOfPath(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "old/f", "one")
	vfstest.Write(t, fsys, "other", "")
	vfstest.Write(t, fsys, "oldest", "")
	require.NoError(t, fsys.Rename(ctx, "old/f", "old/g"))
	require.NoError(t, fsys.Rename(ctx, "old", "new"))
	vfstest.Write(t, fsys, "old", "") // another file
	vfstest.Write(t, fsys, "new/g", "three")
	require.NoError(t, fsys.RemoveAll(ctx, "new"))
	want := []string{"create old/f ->'one' +3", "rename old/g (old/f)", "rename new (old)", "write new/g 'one'->'three' +2", "removeall new"}
	require.Equal(t, want, vfstest.Log(t, fsys, &vfs.LogOptions{Path: "/new/./g"}))
	require.Equal(t, want[3:], vfstest.Log(t, fsys, &vfs.LogOptions{Path: "new/g", Since: 1030}))
	require.Equal(t, want[:2], vfstest.Log(t, fsys, &vfs.LogOptions{Path: "new/g", Max: 2}))
	require.Equal(t, []string{want[4], want[3]}, vfstest.Log(t, fsys, &vfs.LogOptions{Path: "new/g", Max: 2, Newest: true}))
	require.Equal(t, []string{want[3]}, vfstest.Log(t, fsys, &vfs.LogOptions{Path: "new/g", Max: 1, Newest: true, Until: 1032}))
}

// A file of format 1 that is only read has no history; once it is written to, it gets one.
func TestHistoryOfOldFile(t *testing.T) {
	ctx := t.Context()
	data, err := os.ReadFile("../internal/oldfile/testdata/v1.db")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "old.db")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	old := vfstest.Open(t, path, &vfs.Options{ReadOnly: true})
	require.Empty(t, vfstest.Log(t, old, nil))
	seq, err := old.Seq(ctx)
	require.NoError(t, err)
	require.Zero(t, seq)
	list, err := old.Store().Calls(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, list)
	quick, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	for _, err := range old.Watch(quick, "", 0) {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	fsys := vfstest.Open(t, path, nil)
	vfstest.Write(t, fsys, "new", "one")
	require.Equal(t, []string{"create new ->'one' +3"}, vfstest.Log(t, old, nil))
	require.Equal(t, []string{"create new ->'one' +3"}, vfstest.Log(t, fsys, nil))
}

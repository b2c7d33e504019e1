package vfs_test

import (
	"fmt"
	"testing"

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

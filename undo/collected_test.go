package undo_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/undo"
	"vfsdb/vfs"
)

// A collection takes what an undo needs. Then it is refused with the nearest snapshots, and with the states kept it goes on.
func TestCollected(t *testing.T) {
	fsys := vfstest.New(t, "a")
	collect := func() {
		_, err := gc.Run(t.Context(), fsys, nil)
		require.NoError(t, err)
	}
	lost := call(t, fsys, "lost", write(t, fsys, "a", "lost"))
	vfstest.Snapshot(t, fsys, "before")
	kept := call(t, fsys, "kept", func(ctx context.Context) { require.NoError(t, fsys.Remove(ctx, "a")) })
	vfstest.Snapshot(t, fsys, "after")
	call(t, fsys, "later", write(t, fsys, "b", "b"))
	last := call(t, fsys, "last", write(t, fsys, "b", "c"))
	collect()

	was := full(t, fsys)
	_, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: lost})
	require.ErrorIs(t, err, syscall.ESTALE)
	var gone *undo.CollectedError
	require.ErrorAs(t, err, &gone)
	require.NotZero(t, gone.At)
	require.Equal(t, &undo.CollectedError{Op: "undo", Call: lost, At: gone.At, Before: true, Near: []string{"before"}}, gone)
	require.ErrorContains(t, err, fmt.Sprintf("undo: a collection has taken the state before call %d of 2", lost))
	require.ErrorContains(t, err, ", and the nearest snapshot is before: ")
	_, err = undo.Undo(t.Context(), fsys, &undo.Options{Call: last})
	require.ErrorAs(t, err, &gone)
	require.Equal(t, []string{"after"}, gone.Near)
	_, err = undo.Undo(t.Context(), fsys, &undo.Options{Session: "s-lost"})
	require.ErrorIs(t, err, syscall.ESTALE)
	require.Equal(t, was, full(t, fsys))

	r, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: kept})
	require.NoError(t, err)
	require.Len(t, r.Changes, 1)
	require.Equal(t, "lost", vfstest.Read(t, fsys, "a"))

	// What comes after the collection can be taken back.
	call(t, fsys, "new", write(t, fsys, "b", "d"))
	_, err = undo.Undo(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Equal(t, "c", vfstest.Read(t, fsys, "b"))
	collect()
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.ErrorIs(t, err, syscall.ESTALE)
}

// A call that the log does not have any more cannot be taken back.
func TestTrimmed(t *testing.T) {
	fsys := vfstest.New(t)
	old := call(t, fsys, "old", write(t, fsys, "a", "a"))
	call(t, fsys, "new", write(t, fsys, "b", "b"))
	vfstest.Trim(t, fsys, 1)
	_, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: old})
	require.ErrorIs(t, err, syscall.ENOENT)
	require.EqualValues(t, 1, vfstest.Number(t, fsys, `SELECT count(*) FROM step`))
}

// With a snapshot before each call, as sessions take it, a collection leaves what an undo needs.
func TestSnapshotBeforeEachCall(t *testing.T) {
	fsys := vfstest.New(t)
	var ids []int64
	for i := range 4 {
		ids = append(ids, call(t, fsys, "call", func(ctx context.Context) {
			require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
				if _, err := snapshot.CreateIn(tx, fmt.Sprintf("before-%d", i), ""); err != nil {
					return err
				}
				return tx.WriteFile(fmt.Sprint(i), []byte("text"), 0o644)
			}))
		}))
	}
	_, err := gc.Run(t.Context(), fsys, nil)
	require.NoError(t, err)
	for _, i := range []int{1, 3, 0} {
		_, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: ids[i]})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"2"}, vfstest.Names(t, fsys))
}

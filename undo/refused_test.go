package undo_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/undo"
	"vfsdb/vfs"
)

// What is refused changes nothing.
func TestRefused(t *testing.T) {
	fsys := vfstest.New(t)
	_, err := undo.Undo(t.Context(), fsys, nil)
	require.ErrorIs(t, err, syscall.ENOENT)
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.ErrorIs(t, err, syscall.ENOENT)

	first := call(t, fsys, "first", write(t, fsys, "a", "a"))
	idle := call(t, fsys, "idle", func(ctx context.Context) {
		require.NoError(t, fsys.LogCalls(ctx, &vfs.Call{Tool: "idle"}))
	})
	other := vfstest.Branch(t, fsys, "other")
	away := call(t, other, "away", write(t, other, "b", "b"))
	undone := call(t, fsys, "undone", write(t, fsys, "c", "c"))
	_, err = undo.Undo(t.Context(), fsys, &undo.Options{Call: undone})
	require.NoError(t, err)
	past := vfstest.Snapshot(t, fsys, "past")
	dir := vfstest.Branch(t, fsys, "dirs")
	require.NoError(t, dir.Mkdir(t.Context(), "dir", 0o755))
	below, err := dir.OpenRoot(t.Context(), "dir")
	require.NoError(t, err)

	was := full(t, fsys)
	epoch := vfstest.Number(t, fsys, `SELECT epoch FROM branch WHERE id = 1024`)
	for _, tt := range []struct {
		name string
		fsys *vfs.FS
		o    undo.Options
		want error
		text string
	}{
		{"of an empty log", vfstest.New(t), undo.Options{Call: 7}, syscall.ENOENT, "the log, which has no call"},
		{"unknown", fsys, undo.Options{Call: 4000}, syscall.ENOENT, "call 4000 is not in the log"},
		{"below zero", fsys, undo.Options{Call: -1}, syscall.EINVAL, "below 0"},
		{"idle", fsys, undo.Options{Call: idle}, syscall.EINVAL, "changed no tree"},
		{"of another branch", fsys, undo.Options{Call: away}, syscall.EINVAL, "changed another branch, other"},
		{"of the main branch, later than the fork", other, undo.Options{Call: undone}, syscall.EINVAL, "changed another branch, main"},
		{"undone", fsys, undo.Options{Call: undone}, syscall.EALREADY, "is undone, by call"},
		{"nobody's", fsys, undo.Options{Session: "nobody"}, syscall.ENOENT, "no call"},
		{"no actor's", fsys, undo.Options{Actor: "nobody"}, syscall.ENOENT, "no call"},
		{"of the future", fsys, undo.Options{Since: time.Now().Add(time.Hour)}, syscall.EINVAL, "in the future"},
		{"two rules", fsys, undo.Options{Call: first, Session: "s-first"}, syscall.EINVAL, "exclude each other"},
		{"of the past", past.FS, undo.Options{Call: first}, syscall.EROFS, ""},
		{"of a directory", below, undo.Options{Call: first}, syscall.EINVAL, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := undo.Undo(t.Context(), tt.fsys, &tt.o)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
			require.Equal(t, was, full(t, fsys))
			require.Equal(t, epoch, vfstest.Number(t, fsys, `SELECT epoch FROM branch WHERE id = 1024`))
		})
	}

	// A fork has the calls from before it.
	r, err := undo.Undo(t.Context(), other, &undo.Options{Call: first})
	require.NoError(t, err)
	require.Len(t, r.Changes, 1)
	_, err = other.Stat(t.Context(), "a")
	require.ErrorIs(t, err, syscall.ENOENT)
	require.Equal(t, was, full(t, fsys))
}

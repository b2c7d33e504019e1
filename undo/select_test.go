package undo_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/undo"
	"vfsdb/vfs"
)

// The undo of what a session did leaves out what it took back itself, and takes its undos of others back.
func TestSelection(t *testing.T) {
	fsys := vfstest.New(t)
	mine := func(path string) int64 { return call(t, fsys, "mine", write(t, fsys, path, path)) }
	mine("a")
	b := mine("b")
	theirs := call(t, fsys, "theirs", write(t, fsys, "c", "c"))
	_, err := undo.Undo(as(t.Context(), "mine"), fsys, &undo.Options{Call: b})
	require.NoError(t, err)
	_, err = undo.Undo(as(t.Context(), "mine"), fsys, &undo.Options{Call: theirs})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))

	r, err := undo.Undo(as(t.Context(), "host"), fsys, &undo.Options{Session: "s-mine"})
	require.NoError(t, err)
	require.Len(t, r.Calls, 2)
	require.Equal(t, []string{"c"}, vfstest.Names(t, fsys))
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))

	// Both sessions have the same actor.
	_, err = undo.Undo(t.Context(), fsys, &undo.Options{Actor: "tester"})
	require.NoError(t, err)
	require.Empty(t, vfstest.Names(t, fsys))
}

// A time before all times that can be stored is before all calls.
func TestSinceLongAgo(t *testing.T) {
	fsys := vfstest.New(t)
	call(t, fsys, "s", write(t, fsys, "a", "a"))
	r, err := undo.Undo(t.Context(), fsys, &undo.Options{Since: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
	require.Len(t, r.Calls, 1)
	require.Empty(t, vfstest.Names(t, fsys))
}

// Of the calls of others the own last one is found by session and actor, within a transaction that is part of a call.
func TestOwn(t *testing.T) {
	fsys := vfstest.New(t)
	own := func(actor, session string) context.Context {
		return vfs.WithCall(t.Context(), &vfs.Call{Actor: actor, Session: session, Tool: "test"})
	}
	for _, c := range [][2]string{{"ann", "s"}, {"bob", "s"}, {"ann", "t"}} {
		write(t, fsys, c[0]+c[1], "x")(own(c[0], c[1]))
	}

	r, err := undo.Undo(own("ann", "s"), fsys, &undo.Options{Own: true})
	require.NoError(t, err)
	require.Equal(t, []string{"annt", "bobs"}, vfstest.Names(t, fsys))
	_, err = undo.Undo(own("ann", "s"), fsys, &undo.Options{Own: true})
	require.ErrorIs(t, err, syscall.ENOENT)
	_, err = undo.Redo(own("bob", "s"), fsys, &undo.RedoOptions{Own: true})
	require.ErrorIs(t, err, syscall.ENOENT)
	for _, o := range []undo.Options{{Own: true}, {Own: true, Call: r.By}} {
		_, err = undo.Undo(t.Context(), fsys, &o)
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	for _, o := range []undo.RedoOptions{{Own: true}, {Own: true, Call: r.By}, {Call: -1}, {Call: r.Calls[0].ID + 1}} {
		_, err = undo.Redo(t.Context(), fsys, &o)
		require.ErrorIs(t, err, syscall.EINVAL)
	}

	again := errors.New("again")
	require.ErrorIs(t, fsys.Update(own("ann", "s"), func(tx *vfs.Tx) error {
		_, err := undo.RedoIn(tx, &undo.RedoOptions{Own: true})
		require.NoError(t, err)
		return again
	}), again)
	require.Equal(t, []string{"annt", "bobs"}, vfstest.Names(t, fsys))
	_, err = undo.Redo(own("eve", "u"), fsys, &undo.RedoOptions{Call: r.By})
	require.NoError(t, err)
	require.Equal(t, []string{"anns", "annt", "bobs"}, vfstest.Names(t, fsys))

	for _, in := range []func(*vfs.Tx) error{
		func(tx *vfs.Tx) error { _, err := undo.UndoIn(tx, nil); return err },
		func(tx *vfs.Tx) error { _, err := undo.RedoIn(tx, nil); return err },
	} {
		require.ErrorIs(t, fsys.Update(t.Context(), in), syscall.EINVAL)
	}
}

// The own last call is found before however many of others, and so is the own last undo.
func TestOwnBeforeMany(t *testing.T) {
	fsys := vfstest.New(t)
	call(t, fsys, "mine", write(t, fsys, "a", "a"))
	mine := call(t, fsys, "mine", write(t, fsys, "b", "b"))
	for i := range 300 {
		write(t, fsys, "c", fmt.Sprint(i))(as(t.Context(), "others"))
	}
	r, err := undo.Undo(as(t.Context(), "mine"), fsys, &undo.Options{Own: true})
	require.NoError(t, err)
	require.Equal(t, mine, r.Calls[0].ID)
	require.Equal(t, []string{"a", "c"}, vfstest.Names(t, fsys))

	for i := range 300 {
		write(t, fsys, "c", fmt.Sprint(i))(as(t.Context(), "others"))
	}
	_, err = undo.Redo(as(t.Context(), "others"), fsys, &undo.RedoOptions{Own: true})
	require.ErrorIs(t, err, syscall.ENOENT)
	_, err = undo.Redo(as(t.Context(), "mine"), fsys, &undo.RedoOptions{Own: true})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, vfstest.Names(t, fsys))
}

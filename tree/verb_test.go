package tree_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/node"
	"vfsdb/tree"
)

// Of many operations in a transaction one may fail before it has changed anything. One that fails later spoils all.
func TestVerb(t *testing.T) {
	fsys := vfstest.New(t, "a")
	head := (*tree.Tree)(fsys)
	at := func(name string) tree.Place { return tree.Place{Dir: head.Root(), Base: name, Path: name} }
	create := func(tx *tree.Tx, name string) error {
		return tx.Create(at(name), tx.NewNode(node.ModeFile|0o600), chunk.SumOf(nil))
	}

	require.NoError(t, head.Stage(t.Context(), func(tx *tree.Tx) error {
		spoilt, err := tx.Verb(func() error { return create(tx, "b") })
		require.False(t, spoilt)
		require.NoError(t, err)
		before := tx.Now()
		spoilt, err = tx.Verb(func() error { return create(tx, "a") })
		require.False(t, spoilt)
		require.ErrorIs(t, err, syscall.EEXIST)
		require.Greater(t, tx.Now(), before)
		return nil
	}))
	require.Equal(t, []string{"a", "b"}, vfstest.Names(t, fsys))

	failed := errors.New("failed")
	require.ErrorIs(t, head.Stage(t.Context(), func(tx *tree.Tx) error {
		spoilt, err := tx.Verb(func() error { return errors.Join(create(tx, "c"), failed) })
		require.True(t, spoilt)
		require.ErrorIs(t, err, failed)
		return nil
	}), failed)
	require.Equal(t, []string{"a", "b"}, vfstest.Names(t, fsys))
}

// A handle is attached to a file while the transaction that makes it is open. What is written through it is part of the
// file once that has folded it.
func TestAttach(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	head := (*tree.Tree)(fsys)
	root, err := head.OpenInode(ctx, head.Root(), tree.HandleMode{})
	require.NoError(t, err)
	defer root.Close()
	read := func(h *tree.Handle) string {
		buf := make([]byte, 20)
		n, _ := h.ReadAt(buf, 0)
		return string(buf[:n])
	}

	var h *tree.Handle
	require.NoError(t, head.Stage(ctx, func(tx *tree.Tx) error {
		n := tx.NewNode(node.ModeFile | 0o600)
		p := tree.Place{Dir: head.Root(), Base: "new", Path: "new"}
		require.NoError(t, tx.Create(p, n, chunk.SumOf(nil)))
		h = head.Attach(ctx, n.Ino, n.Kind(), node.Name{Dir: p.Dir, Base: p.Base})
		require.Empty(t, read(h))
		require.False(t, h.Dirty())

		done, err := h.Write([]byte("hello"), 0)
		require.NoError(t, err)
		require.Equal(t, 5, done)
		require.True(t, h.Dirty())
		require.Equal(t, "hello", read(h))
		size, ok := h.Over(n, h.Turn())
		require.True(t, ok)
		require.EqualValues(t, 5, size)

		turn := h.Turn()
		require.NoError(t, tx.Fold(n))
		_, ok = h.Over(n, turn)
		require.False(t, ok)
		require.Equal(t, "hello", read(h))
		return nil
	}))
	require.False(t, h.Dirty())
	require.Equal(t, "hello", read(h))
	require.Equal(t, "hello", vfstest.Read(t, fsys, "new"))

	// A write takes no more than there is room for, and never commits.
	done, err := h.Write(make([]byte, 20<<20), 0)
	require.NoError(t, err)
	require.Less(t, done, 20<<20)
	done, err = h.Write([]byte("x"), 40<<20)
	require.NoError(t, err)
	require.Zero(t, done)
	require.Equal(t, "hello", vfstest.Read(t, fsys, "new"))

	require.NoError(t, fsys.Remove(ctx, "new"))
	require.NoError(t, h.Close())
	_, err = h.Write([]byte("x"), 0)
	require.Error(t, err)
}

package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/node"
	"vfsdb/schema"
)

// A transaction that writes keeps the names of inodes, one at a time or many at once. After each change, in a fork of a
// fork, they are those that the rows say.
func TestNamesWhileWriting(t *testing.T) {
	ctx := t.Context()
	random := rand.New(rand.NewPCG(1, 0))
	head := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	path := func() string { return fmt.Sprintf("d%d/f%d", random.IntN(4), random.IntN(4)) }
	for depth := range 4 {
		require.NoError(t, head.Update(ctx, func(tx *Tx) error {
			for range 40 {
				changeNames(t, tx, random, path)
				requireNames(t, tx, random.IntN(2) == 0)
			}
			return nil
		}))

		name := fmt.Sprintf("b%d", depth)
		require.NoError(t, head.Update(ctx, func(tx *Tx) error {
			at, err := tx.Freeze()
			require.NoError(t, err)
			require.NoError(t, tx.Fork(at, name))
			past, err := tx.Tree().Store().AtIn(tx.DB(), at)
			require.NoError(t, err)
			on, err := tx.On(past)
			require.NoError(t, err)
			requireNames(t, on, true)
			return nil
		}))
		var err error
		head, err = head.Store().Head(ctx, name)
		require.NoError(t, err)
	}
}

// changeNames changes some names. Verbs that are refused are fine.
func changeNames(t *testing.T, tx *Tx, random *rand.Rand, path func() string) {
	verbs := ByPath(tx)
	var err error
	switch random.IntN(5) {
	case 0, 1:
		err = verbs.WriteFile(path(), nil)
	case 2:
		err = verbs.Rename(path(), path())
	case 3:
		err = verbs.Link(path(), path())
	case 4:
		if random.IntN(3) == 0 {
			err = verbs.Rename(fmt.Sprintf("d%d", random.IntN(4)), fmt.Sprintf("d%d", 4+random.IntN(3)))
		} else {
			err = verbs.Remove(path())
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		require.ErrorIs(t, err, fs.ErrExist)
	}
}

// requireNames compares the names that a transaction knows of each inode with its rows.
func requireNames(t *testing.T, tx *Tx, atOnce bool) {
	t.Helper()
	require.NoError(t, tx.Flush())
	last, _, err := tx.db.Int(`SELECT max(ino) FROM inode`)
	require.NoError(t, err)
	var inos []node.Ino
	for ino := node.Ino(schema.RootIno); ino <= node.Ino(last); ino++ {
		inos = append(inos, ino)
	}
	if atOnce {
		require.NoError(t, tx.FindNames(inos))
	}
	for _, ino := range inos {
		want, err := tx.loadNames(ino)
		require.NoError(t, err)
		got, err := tx.namesOf(ino)
		require.NoError(t, err)
		require.ElementsMatch(t, want, got, "inode %d", ino)
	}
}

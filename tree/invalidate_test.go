package tree

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// A commit invalidates what all verbs that share it have written, also what was cached while it was under way.
func TestInvalidationIsOfAllVerbs(t *testing.T) {
	ctx := t.Context()
	fsys := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	require.NoError(t, fsys.Update(ctx, func(tx *Tx) error { return ByPath(tx).Mkdir("d") })) // nothing is cached
	make := func(db *schema.Tx, name string) error {
		return fsys.run(db, new(folds), func(tx *Tx) error { return ByPath(tx).Mkdir(name) })
	}
	require.NoError(t, fsys.store.db.Join(ctx, 0, func(db *schema.Tx) error {
		require.NoError(t, make(db, "d/first"))
		_, err := lstat(ctx, fsys, "d/first")
		require.Error(t, err, "it is not committed")
		return make(db, "d/second")
	}))
	for _, name := range []string{"d/first", "d/second"} {
		_, err := lstat(ctx, fsys, name)
		require.NoError(t, err, name)
	}
}

// A reader that finds a commit of this process before the commit has invalidated what it wrote, loses nothing of the rest.
func TestReaderBeforeInvalidation(t *testing.T) {
	ctx := t.Context()
	fsys := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	require.NoError(t, fsys.Update(ctx, func(tx *Tx) error {
		return errors.Join(ByPath(tx).Mkdir("d"), ByPath(tx).WriteFile("d/kept", nil), ByPath(tx).WriteFile("d/changed", nil))
	}))
	shared := fsys.store.memory
	looks := 0
	fsys.store.db.OnCommit(func(tx *schema.Tx) {
		info, err := lstat(ctx, fsys, "d/changed")
		require.NoError(t, err)
		require.EqualValues(t, looks, info.Size(), "what is committed")
		shared.Committed(tx)
	})
	for looks = range 10 {
		_, err := lstat(ctx, fsys, "d/kept")
		require.NoError(t, err)
		_, err = lstat(ctx, fsys, "d/changed")
		require.NoError(t, err)
		n := looks
		looks++
		require.NoError(t, write(ctx, fsys, "d/changed", make([]byte, looks)))
		looks = n

		g := shared.Current()
		require.NotNil(t, g)
		blind := &Tx{db: schema.Blind(ctx), tree: fsys, mem: shared.Cached(g, fsys.at)}
		require.NoError(t, blind.checkBranch())
		_, err = ByPath(blind).Lstat("d/kept")
		require.NoError(t, err, "in round %d", n)
		info, err := lstat(ctx, fsys, "d/changed")
		require.NoError(t, err)
		require.EqualValues(t, n+1, info.Size())
	}
}

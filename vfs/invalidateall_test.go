package vfs

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// When the first verb of a commit does not tell what it changes, because nothing was known, those that share the commit
// do not carry what has been learnt since.
func TestNewsAreOfAllVerbs(t *testing.T) {
	ctx := t.Context()
	fsys, err := Open(ctx, filepath.Join(t.TempDir(), "a.db"), nil)
	require.NoError(t, err)
	defer fsys.Close()
	require.NoError(t, fsys.Update(ctx, func(tx *Tx) error { return tx.Mkdir("d", 0o755) })) // what was known is void
	make := func(db *schema.Tx, name string) error {
		fsys.store.memory.carry(db)
		return fsys.run(db, new(folds), func(tx *Tx) error { return tx.Mkdir(name, 0o755) })
	}
	require.NoError(t, fsys.store.db.Join(ctx, 0, func(db *schema.Tx) error {
		require.NoError(t, make(db, "d/first"))
		_, err := fsys.Lstat(ctx, "d/first")
		require.Error(t, err, "it is not committed")
		return make(db, "d/second")
	}))
	for _, name := range []string{"d/first", "d/second"} {
		_, err := fsys.Lstat(ctx, name)
		require.NoError(t, err, name)
	}
}

package schema_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// A file that is moved away takes its log along when it is closed: the last commits are not lost, and the next file at the
// path does not inherit them.
func TestMovedAway(t *testing.T) {
	dir := t.TempDir()
	path, away, spare := filepath.Join(dir, "a.db"), filepath.Join(dir, "away.db"), filepath.Join(dir, "spare.db")
	db, err := schema.Open(t.Context(), path, schema.Options{})
	require.NoError(t, err)
	require.NoError(t, db.InPlace())
	require.NoError(t, db.Backup(t.Context(), spare))
	add := func(db *schema.DB) {
		require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
			_, err := tx.Exec(`INSERT INTO meta (key, value) VALUES ('x', 1)`)
			return err
		}))
	}
	has := func(path string) (n int64) {
		db, err := schema.Open(t.Context(), path, schema.Options{MustExist: true})
		require.NoError(t, err)
		defer db.Close()
		require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
			n, _, err = tx.Int(`SELECT count(*) FROM meta WHERE key = 'x'`)
			return err
		}))
		return n
	}
	add(db)
	require.NoError(t, os.Rename(path, away))
	require.ErrorIs(t, db.InPlace(), syscall.ESTALE)
	require.NoError(t, os.Rename(spare, path))
	require.ErrorIs(t, db.InPlace(), syscall.ESTALE)
	require.NoError(t, db.Close())
	require.NoFileExists(t, path+"-wal")
	require.EqualValues(t, 1, has(away))
	require.EqualValues(t, 0, has(path))
}

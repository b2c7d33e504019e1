package schema_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// The chunk size stands in the file. The page size and auto_vacuum are the ones we asked for, although SQLite
// forgets them silently when they are set in the wrong order.
func TestNewFile(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	require.EqualValues(t, 8192, number(t, db, `PRAGMA page_size`))
	require.EqualValues(t, 2, number(t, db, `PRAGMA auto_vacuum`))
	require.EqualValues(t, 524288, number(t, db, `SELECT value FROM meta WHERE key = 'chunk_size'`))
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM branch WHERE name = 'main' AND id = 1024`))
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		rows := tx.Query(`PRAGMA journal_mode`)
		require.True(t, rows.Next())
		require.Equal(t, "wal", rows.Text(0))
		return rows.Close()
	}))
}

// ANALYZE by somebody else would make each bind plan its statement anew.
func TestForeignStatisticsAreDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{})
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`ANALYZE`)
		return err
	}))
	require.NoError(t, db.Close())
	db = open(t, path, schema.Options{})
	require.Zero(t, number(t, db, `SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'`))
}

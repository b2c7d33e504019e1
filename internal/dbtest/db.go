package dbtest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// Open opens a new file in a directory of the test, and closes it at the end.
func Open(t testing.TB) *schema.DB {
	t.Helper()
	return OpenAt(t, filepath.Join(t.TempDir(), "x.db"))
}

// OpenAt is Open for a file that the test names, to open one twice, for example.
func OpenAt(t testing.TB, path string) *schema.DB {
	t.Helper()
	db, err := schema.Open(context.Background(), path, schema.Options{Relaxed: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// Number returns the number that a query finds, 0 if it finds none.
func Number(t testing.TB, db *schema.DB, query string, args ...any) (n int64) {
	t.Helper()
	require.NoError(t, db.View(context.Background(), func(tx *schema.Tx) (err error) {
		n, _, err = tx.Int(query, args...)
		return err
	}))
	return n
}

// Exec changes rows behind the back of the rooms.
func Exec(t testing.TB, db *schema.DB, query string, args ...any) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), func(tx *schema.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}))
}

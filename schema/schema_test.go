package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

func open(t *testing.T, path string, o schema.Options) *schema.DB {
	t.Helper()
	db, err := schema.Open(t.Context(), path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func number(t *testing.T, db *schema.DB, text string, args ...any) int64 {
	t.Helper()
	var n int64
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) (err error) {
		n, _, err = tx.Int(text, args...)
		return err
	}))
	return n
}

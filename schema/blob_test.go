package schema_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// What is written into a row is there as if it had been bound, or is undone with the transaction.
func TestWriteBlob(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	const insert = `INSERT INTO blob (id, sum, size, codec, data) VALUES (?1, randomblob(32), ?2, 0, zeroblob(?2))`
	for i, tt := range []struct {
		size, written int
		result, want  error
	}{
		{1, 1, nil, nil},
		{5000, 5000, nil, nil}, // more than the buffer of the library
		{schema.PageSize * 64, schema.PageSize * 64, nil, nil},
		{5000, 5000, os.ErrInvalid, os.ErrInvalid},
		{5000, 4999, nil, syscall.EINVAL},
		{5000, 5001, nil, syscall.EINVAL},
	} {
		id := int64(2000 + i)
		p := make([]byte, tt.written)
		for n := range p {
			p[n] = byte(n * 7 / 5)
		}
		err := db.Update(t.Context(), func(tx *schema.Tx) error {
			_, err := tx.Exec(insert, id, tt.size)
			require.NoError(t, err)
			if err := tx.WriteBlob("blob", "data", id, p); err != nil {
				return err
			}
			return tt.result
		})
		require.ErrorIs(t, err, tt.want)
		require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
			rows := tx.Query(`SELECT data FROM blob WHERE id = ?`, id)
			defer rows.Close()
			require.Equal(t, tt.want == nil, rows.Next())
			if tt.want == nil {
				require.True(t, bytes.Equal(p, rows.Bytes(0)))
			}
			return rows.Err()
		}))
	}
	require.Error(t, db.Update(t.Context(), func(tx *schema.Tx) error { return tx.WriteBlob("blob", "data", 1, []byte("x")) }))
}

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

// Bytes that are written into a row are there as if they had been bound, or are undone with the transaction.
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
		for _, update := range []func(func(*schema.Tx) error) error{
			func(fn func(*schema.Tx) error) error { return db.Update(t.Context(), fn) },
			func(fn func(*schema.Tx) error) error { return db.Join(t.Context(), tt.size, fn) },
		} {
			err := update(func(tx *schema.Tx) error {
				_, err := tx.Exec(`DELETE FROM blob WHERE id = ?`, id)
				require.NoError(t, err)
				_, err = tx.Exec(insert, id, tt.size)
				require.NoError(t, err)
				_ = tx.WriteBlob("blob", "data", id, p) // a failure counts even if the closure does not return it
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
	}
	require.Error(t, db.Update(t.Context(), func(tx *schema.Tx) error { return tx.WriteBlob("blob", "data", 1, []byte("x")) }))
}

func TestReadBlob(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	data := make([]byte, 40*schema.PageSize+100)
	for n := range data {
		data[n] = byte(n * 7 / 5)
	}
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`INSERT INTO blob (id, sum, size, codec, data) VALUES (2000, randomblob(32), ?, 0, ?)`, len(data), data)
		return err
	}))
	size := int64(len(data))
	for _, tt := range []struct {
		row, size, off int64
		n              int
		ok             bool
	}{
		{2000, size, 0, 10, true},
		{2000, size, 10, 20_000, true},
		{2000, size, size - 16<<10, 16 << 10, true},
		{2000, size, 20*schema.PageSize - 5, 10, true},
		{2000, size - 1, 0, 10, false},
		{2001, size, 0, 10, false},
	} {
		require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
			p := make([]byte, tt.n)
			ok, err := tx.ReadBlob("blob", "data", tt.row, tt.size, tt.off, p)
			require.NoError(t, err)
			require.Equal(t, tt.ok, ok)
			if ok {
				require.True(t, bytes.Equal(data[tt.off:][:tt.n], p))
			}
			return nil
		}))
	}
	require.Error(t, db.View(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.ReadBlob("blob", "data", 2000, size, size-5, make([]byte, 10))
		return err
	}), "past the end")
}

package chunk

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// A cache answers what was loaded, holds no more than it may, and never what a rolled back transaction wrote.
func TestCache(t *testing.T) {
	db, err := schema.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), schema.Options{Relaxed: true})
	require.NoError(t, err)
	defer db.Close()
	var cache Cache
	content := func(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8), 1}, cacheable/3-i%7) }

	rolled := errors.New("rolled back")
	err = db.Update(t.Context(), func(tx *schema.Tx) error {
		c, err := Put(tx, []byte("never"))
		require.NoError(t, err)
		_, err = cache.Read(tx, c, make([]byte, 5))
		require.NoError(t, err)
		return rolled
	})
	require.ErrorIs(t, err, rolled)

	var stored []Content
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
		for i := range 700 {
			c, err := Put(tx, content(i))
			if err != nil {
				return err
			}
			stored = append(stored, c)
		}
		return nil
	}))
	for range 2 {
		require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
			for i, c := range stored {
				p := make([]byte, c.Size)
				if _, err := cache.Read(tx, c, p); err != nil {
					return err
				}
				require.True(t, bytes.Equal(content(i), p), i)
			}
			return nil
		}))
		require.LessOrEqual(t, cache.size, CacheSize)
		require.Greater(t, cache.size, CacheSize/2)
	}
	held := 0
	for _, data := range cache.held {
		held += len(data)
	}
	require.Equal(t, held, cache.size)
}

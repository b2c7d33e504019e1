package schema_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// A second handle stands for a second process: it sees each commit at once, and its memo is gone.
func TestMemoIsNeverStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	a, b := open(t, path, schema.Options{}), open(t, path, schema.Options{})
	for i := range int64(200) {
		require.NoError(t, a.Update(t.Context(), func(tx *schema.Tx) error {
			_, err := tx.Exec(`INSERT INTO counter (name, next) VALUES ('x', ?1) ON CONFLICT DO UPDATE SET next = ?1`, i+5)
			return err
		}))
		require.NoError(t, b.View(t.Context(), func(tx *schema.Tx) error {
			require.Nil(t, tx.Memo(), "after a commit elsewhere")
			n, _, err := tx.Int(`SELECT next FROM counter WHERE name = 'x'`)
			require.EqualValues(t, i+5, n)
			tx.SetMemo(n)
			return err
		}))
		require.NoError(t, b.View(t.Context(), func(tx *schema.Tx) error {
			require.Equal(t, i+5, tx.Memo(), "after no commit")
			return nil
		}))
	}
}

func TestNestedQueries(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	const text = `SELECT name FROM counter ORDER BY name`
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		n, counters := 0, 0
		outer := tx.Query(text)
		for outer.Next() {
			counters++
			inner := tx.Query(text)
			for inner.Next() {
				n++
			}
			require.NoError(t, inner.Err())
		}
		require.Greater(t, counters, 4)
		require.Equal(t, counters*counters, n)
		return outer.Err()
	}))
}

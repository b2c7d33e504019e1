package schema_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// marked returns the mark of a transaction that reads, after a look at what it sees.
func marked(t *testing.T, db *schema.DB, meanwhile func()) (m schema.Mark, ok bool) {
	t.Helper()
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		if meanwhile != nil {
			meanwhile()
		}
		m, ok = tx.Mark()
		return nil
	}))
	return m, ok
}

// A mark changes with each commit, of this DB and of another, and with nothing else. A transaction has the mark of the
// moment that it sees, whatever is committed meanwhile.
func TestMark(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{})
	other := open(t, path, schema.Options{})
	reader := open(t, path, schema.Options{ReadOnly: true})
	add := func(db *schema.DB, fail error) func() {
		return func() {
			err := db.Update(ctx, func(tx *schema.Tx) error {
				_, marked := tx.Mark()
				require.False(t, marked, "what is not committed has no mark")
				require.NoError(t, tx.Reach("ino", number(t, other, `SELECT next FROM counter WHERE name = 'ino'`)+1))
				return fail
			})
			require.ErrorIs(t, err, fail)
		}
	}
	seen := map[schema.Mark]bool{}
	for range 3 {
		for _, writer := range []*schema.DB{db, other} {
			for _, asked := range []*schema.DB{db, other, reader} {
				add(writer, nil)()
				now, ok := asked.Mark()
				require.True(t, ok)
				require.NotContains(t, seen, now)
				seen[now] = true
				add(writer, errors.ErrUnsupported)()
				of, ok := marked(t, asked, nil)
				require.True(t, ok)
				require.Equal(t, now, of)
				of, ok = marked(t, asked, add(writer, nil))
				require.True(t, ok)
				require.Equal(t, now, of, "the mark of what it sees")
				then, ok := asked.Mark()
				require.True(t, ok)
				require.NotEqual(t, now, then)
			}
		}
	}
	require.NoError(t, db.Close())
	_, ok := db.Mark()
	require.False(t, ok)
}

package schema_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// Numbers grow from commit to commit, of whatever handle, and are given out once. Only where another handle has
// committed, or one was closed, do they have gaps; those of changes never do. Those of a rolled back transaction are
// not lost.
func TestNextID(t *testing.T) {
	for _, tt := range []struct {
		counter string
		turns   []int // of the handles
		want    []int64
	}{
		{"blob", []int{0, 0, 0}, []int64{1024, 1027, 1030}},
		{"blob", []int{0, 1, 1, 0}, []int64{1024, 1283, 1286, 1542}},
		{"blob", []int{0, -1, 1}, []int64{1024, -1, 1283}},
		{"change", []int{0, 1, 1, 0, -1, 0}, []int64{1024, 1027, 1030, 1033, -1, 1036}},
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		handles := []*schema.DB{open(t, path, schema.Options{}), open(t, path, schema.Options{})}
		take := func(turn int, want int64, result error) {
			err := handles[turn].Update(t.Context(), func(tx *schema.Tx) error {
				for range 3 {
					id, err := tx.NextID(tt.counter)
					require.NoError(t, err)
					require.Equal(t, want, id, tt)
					want++
				}
				return result
			})
			require.ErrorIs(t, err, result)
		}
		for i, turn := range tt.turns {
			if turn < 0 {
				require.NoError(t, handles[0].Close())
				handles[0] = open(t, path, schema.Options{})
				continue
			}
			take(turn, tt.want[i], os.ErrInvalid)
			take(turn, tt.want[i], nil)
		}
	}
}

// More numbers than a connection takes at a time are given out in one transaction, and after it.
func TestNextIDMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, schema.Options{Relaxed: true})
	want := int64(1024)
	for range 3 {
		require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
			for range 1000 {
				id, err := tx.NextID("blob")
				require.NoError(t, err)
				require.Equal(t, want, id)
				want++
			}
			return nil
		}))
		next := number(t, db, `SELECT next FROM counter WHERE name = 'blob'`)
		require.GreaterOrEqual(t, next, want)
	}
}

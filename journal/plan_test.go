package journal

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// A reader of the record goes by its numbers, and looks the rest up: no table is scanned.
func TestReadPlans(t *testing.T) {
	db, err := schema.Open(t.Context(), filepath.Join(t.TempDir(), "plan.db"), schema.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		ofTree := []any{1024, int64(schema.Head), 1024, 5000, "", "", "", ""}
		for text, args := range map[string][]any{sourceEvents: ofTree, sourceEvents + ` DESC`: ofTree, branchEvents: {1024, 5000, 1024}} {
			rows := tx.Query(`EXPLAIN QUERY PLAN `+text, args...)
			first := true
			for rows.Next() {
				step := rows.Text(3)
				require.False(t, strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE"), step)
				if first {
					require.Equal(t, "SEARCH c USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", step)
				}
				first = false
			}
			require.NoError(t, rows.Err())
		}
		return nil
	}))
}

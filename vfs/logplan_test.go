package vfs

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// Whoever reads the log goes by its numbers, and looks the rest up: no table is scanned.
func TestLogPlans(t *testing.T) {
	fsys, err := Open(t.Context(), filepath.Join(t.TempDir(), "plan.db"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, fsys.Close()) }()
	require.NoError(t, fsys.View(t.Context(), func(tx *Tx) error {
		ofTree := []any{1024, int64(schema.Head), 1024, 5000, "", "", "", ""}
		for text, args := range map[string][]any{treeEvents: ofTree, treeEvents + ` DESC`: ofTree, branchEvents: {1024, 5000, 1024}} {
			rows := tx.db.Query(`EXPLAIN QUERY PLAN `+text, args...)
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

package tree

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// RemoveAll finds files with several names by their index. A look at all inodes would cost more in a larger tree.
func TestRemoveAllPlan(t *testing.T) {
	fsys := openTest(t, filepath.Join(t.TempDir(), "plan.db"))
	require.NoError(t, fsys.store.db.View(t.Context(), func(tx *schema.Tx) error {
		var got []string
		rows := tx.Query(`EXPLAIN QUERY PLAN `+manyNamed, 1024, 5)
		for rows.Next() {
			got = append(got, rows.Text(3))
		}
		require.Equal(t, []string{"SEARCH inode USING INDEX inode_links (branch=?)"}, got)
		return rows.Err()
	}))
}

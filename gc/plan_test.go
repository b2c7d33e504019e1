package gc

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// The reaper goes on where it stopped, by an index: a scan from the start at each step would be quadratic.
func TestRowScanPlans(t *testing.T) {
	fsys, err := vfs.Open(t.Context(), filepath.Join(t.TempDir(), "plan.db"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, fsys.Close()) }()
	for named, plans := range map[bool][2]string{
		true: {
			"SEARCH inode USING INDEX inode_died (branch=? AND (died,ino)>(?,?) AND died<?)",
			"SEARCH dirent USING INDEX dirent_died (branch=? AND (died,parent,name)>(?,?,?) AND died<?)",
		},
		false: {
			"SEARCH inode USING PRIMARY KEY (branch=? AND (ino,died)>(?,?))",
			"SEARCH dirent USING PRIMARY KEY (branch=? AND (parent,name,died)>(?,?,?))",
		},
	} {
		for table, want := range plans {
			require.NoError(t, (*tree.Tree)(fsys).Store().DB().View(t.Context(), func(tx *schema.Tx) error {
				var got []string
				rows := tx.Query(`EXPLAIN QUERY PLAN `+rowScans[named][rowTable(table)], 1024, 0, "", 0, 10)
				for rows.Next() {
					got = append(got, rows.Text(3))
				}
				require.Equal(t, []string{want}, got)
				return rows.Err()
			}))
		}
	}
}

// Whether one of many open files is open is one look-up for each process, however many are open.
func TestPinOfInodePlan(t *testing.T) {
	fsys, err := vfs.Open(t.Context(), filepath.Join(t.TempDir(), "plan.db"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, fsys.Close()) }()
	require.NoError(t, (*tree.Tree)(fsys).Store().DB().View(t.Context(), func(tx *schema.Tx) error {
		var got []string
		rows := tx.Query(`EXPLAIN QUERY PLAN `+pinOfInode, 4, 1024, 1024)
		for rows.Next() {
			got = append(got, rows.Text(3))
		}
		require.Equal(t, []string{"SCAN l", "SEARCH p USING PRIMARY KEY (lease=? AND kind=? AND branch=? AND id=?)"}, got)
		return rows.Err()
	}))
}

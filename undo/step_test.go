package undo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/undo"
	"vfsdb/vfs"
)

// The changes of a call share no epoch with those of others, whoever writes at the same time: in groups, in transactions of
// several verbs of which some fail, without a call, and through another store on the same file.
func TestSteps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "steps.db")
	stores := []*vfs.FS{vfstest.Open(t, file, nil), vfstest.Open(t, file, nil)}
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			fsys, ctx := stores[w%2], t.Context()
			for i := range 20 {
				if i%5 == 0 && w != 7 {
					ctx = as(t.Context(), fmt.Sprintf("%d-%d", w, i))
				}
				path := fmt.Sprintf("%d-%d", w, i%3)
				assert.NoError(t, fsys.WriteFile(ctx, path, []byte(fmt.Sprint(i)), 0o644))
				assert.Error(t, fsys.Remove(ctx, "nothing"))
				assert.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
					_ = tx.Mkdir(path, 0o755) // it exists
					return tx.Chmod(path, os.FileMode(0o600+i))
				}))
			}
		})
	}
	group.Wait()
	require.Zero(t, vfstest.Number(t, stores[0], `SELECT count(*) FROM change c LEFT JOIN step s ON s.branch = ifnull(c.branch, 1024) AND s.epoch = c.epoch
		WHERE c.call IS NOT s.call`))
	require.Positive(t, vfstest.Number(t, stores[0], `SELECT count(*) FROM change WHERE call IS NULL`))

	// All calls are taken back. What was written without one stays.
	_, err := undo.Undo(t.Context(), stores[1], &undo.Options{Actor: "tester"})
	require.NoError(t, err)
	require.Equal(t, []string{"7-0", "7-1", "7-2"}, vfstest.Names(t, stores[0]))
}

package schema_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// A deleted row is in no byte of the file once it was scrubbed and its log emptied, and another Scrub has nothing to do.
func TestScrub(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	db, err := schema.Open(ctx, path, schema.Options{})
	require.NoError(t, err)
	defer db.Close()
	secret := strings.Repeat("a secret of this row ", 2000)
	exec := func(text string, args ...any) {
		t.Helper()
		require.NoError(t, db.Update(ctx, func(tx *schema.Tx) error {
			_, err := tx.Exec(text, args...)
			return err
		}))
	}
	exec(`INSERT INTO meta (key, value) VALUES ('long', ?)`, secret)
	exec(`INSERT INTO meta (key, value) VALUES ('short', ?)`, secret[:100])
	exec(`DELETE FROM meta WHERE key IN ('long', 'short')`)

	// A reader keeps the log, and nobody else has the file open.
	require.NoError(t, db.Alone())
	require.NoError(t, db.View(ctx, func(tx *schema.Tx) error {
		if _, _, err := tx.Int(`SELECT count(*) FROM meta`); err != nil {
			return err
		}
		exec(`DELETE FROM meta WHERE key = 'none'`)
		exec(`INSERT INTO meta (key, value) VALUES ('other', 1)`)
		require.ErrorIs(t, db.EmptyLog(ctx), syscall.EBUSY)
		return nil
	}))
	second, err := schema.Open(ctx, path, schema.Options{})
	require.NoError(t, err)
	require.ErrorIs(t, db.Alone(), syscall.EBUSY)
	require.NoError(t, second.Close())
	require.NoError(t, db.Alone())

	report, err := db.Scrub(ctx)
	require.NoError(t, err)
	require.Positive(t, report.Bytes)
	again, err := db.Scrub(ctx)
	require.NoError(t, err)
	require.Zero(t, again.Bytes)
	require.NoError(t, db.EmptyLog(ctx))
	require.NoError(t, db.Close())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "a secret of this")
}

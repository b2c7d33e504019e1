package schema_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
	"vfsdb/schema/engine/powerloss"
)

// Sync makes durable what was staged, and what a relaxed file has committed; if nothing was, it does nothing.
func TestSync(t *testing.T) {
	for name, relaxed := range map[string]bool{"durable": false, "relaxed": true} {
		t.Run(name, func(t *testing.T) { syncs(t, relaxed) })
	}
}

func syncs(t *testing.T, relaxed bool) {
	path := filepath.Join(t.TempDir(), "a.db")
	host := powerloss.New(t, path, 1)
	db := open(t, path, schema.Options{Relaxed: relaxed})
	write := func(key string, commit func(fn func(*schema.Tx) error) error) {
		require.NoError(t, commit(func(tx *schema.Tx) error {
			_, err := tx.Exec(`INSERT INTO meta (key, value) VALUES (?, '')`, key)
			return err
		}))
	}
	write("staged", func(fn func(*schema.Tx) error) error { return db.Stage(t.Context(), fn) })
	write("joined", func(fn func(*schema.Tx) error) error { return db.Join(t.Context(), 0, fn) })
	write("staged last", func(fn func(*schema.Tx) error) error { return db.Stage(t.Context(), fn) })

	require.NoError(t, db.Sync(t.Context()))
	before := db.Metrics().Commits
	require.NoError(t, db.Sync(t.Context()))
	require.Equal(t, before, db.Metrics().Commits)

	after := open(t, host.Image(t, false), schema.Options{})
	require.NoError(t, after.View(t.Context(), func(tx *schema.Tx) error {
		n, _, err := tx.Int(`SELECT count(*) FROM meta WHERE key IN ('staged', 'joined', 'staged last')`)
		require.EqualValues(t, 3, n)
		return err
	}))
}

// A part of a transaction that fails with something done spoils the whole; one that has done nothing does not.
func TestWhole(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	failed := errors.New("failed")
	for _, change := range []bool{false, true} {
		err := db.Update(t.Context(), func(tx *schema.Tx) error {
			next, err := tx.PeekID("ino")
			require.NoError(t, err)
			id, err := tx.NextID("ino")
			require.NoError(t, err)
			require.Equal(t, next, id)

			spoilt, err := tx.Whole(func() error {
				if change {
					tx.SetLocal("key", 1)
				}
				return failed
			})
			require.Equal(t, change, spoilt)
			require.ErrorIs(t, err, failed)
			return nil
		})
		require.Equal(t, change, errors.Is(err, failed))
	}
}

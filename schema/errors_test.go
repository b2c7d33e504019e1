package schema_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

func TestConflict(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), schema.Options{})
	err := db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`INSERT INTO branch (name, epoch, created) VALUES ('main', 2, 2)`)
		return err
	})
	require.True(t, schema.Conflict(err), "%v", err)
}

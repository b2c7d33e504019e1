package schema_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.db")
	foreign := filepath.Join(dir, "foreign.db")
	require.NoError(t, os.WriteFile(foreign, make([]byte, 4096), 0o644))
	garbage := filepath.Join(dir, "garbage.db")
	require.NoError(t, os.WriteFile(garbage, []byte("this is not a database, nor was it ever meant to be one, at any length"), 0o644))
	newer := filepath.Join(dir, "newer.db")
	db := open(t, newer, schema.Options{})
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`PRAGMA user_version = 99`)
		return err
	}))
	require.NoError(t, db.Close())

	for _, tt := range []struct {
		name, path string
		options    schema.Options
		want       error
	}{
		{"no file, must exist", missing, schema.Options{MustExist: true}, syscall.ENOENT},
		{"no file, read-only", missing, schema.Options{ReadOnly: true}, syscall.ENOENT},
		{"no name", "", schema.Options{}, syscall.EINVAL},
		{"a directory", dir, schema.Options{}, syscall.EISDIR},
		{"no directory", filepath.Join(dir, "no/such/a.db"), schema.Options{}, syscall.ENOENT},
		{"a device", os.DevNull, schema.Options{}, syscall.EINVAL},
		{"text", garbage, schema.Options{}, schema.ErrForeign},
		{"zeros", foreign, schema.Options{}, schema.ErrForeign},
		{"newer format", newer, schema.Options{}, schema.ErrTooNew},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Open(t.Context(), tt.path, tt.options)
			require.ErrorIs(t, err, tt.want)
		})
	}
	_, err := os.Stat(missing)
	require.ErrorIs(t, err, os.ErrNotExist, "a refused open creates nothing")
}

package schema_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "a.db"), schema.Options{})
	dest := filepath.Join(dir, "copy.db")
	require.NoError(t, db.Backup(t.Context(), dest))
	require.ErrorIs(t, db.Backup(t.Context(), dest), syscall.EEXIST)
	require.ErrorIs(t, db.Backup(t.Context(), filepath.Join(dir, "no/such/copy.db")), syscall.ENOENT)
	copied := open(t, dest, schema.Options{})
	require.EqualValues(t, 1, number(t, copied, `SELECT count(*) FROM branch`))
	require.EqualValues(t, 8192, number(t, copied, `PRAGMA page_size`))
	require.EqualValues(t, 2, number(t, copied, `PRAGMA auto_vacuum`))
	left, err := filepath.Glob(filepath.Join(dir, "*.part"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// A backup does not touch the file of another backup to the same place, and does not get the log of a file that was there
// before.
func TestBackupBeside(t *testing.T) {
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "a.db"), schema.Options{})
	dest := filepath.Join(dir, "copy.db")
	require.NoError(t, os.WriteFile(dest+".part", []byte("half"), 0o600))
	require.NoError(t, db.Backup(t.Context(), dest))
	half, err := os.ReadFile(dest + ".part")
	require.NoError(t, err)
	require.Equal(t, "half", string(half))

	dest = filepath.Join(dir, "late.db")
	require.NoError(t, os.WriteFile(dest+"-wal", []byte("frames"), 0o600))
	require.ErrorIs(t, db.Backup(t.Context(), dest), syscall.EEXIST)
	require.NoFileExists(t, dest)
}

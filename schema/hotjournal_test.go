package schema_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"vfsdb/schema"
)

// A file whose writer was killed before it had a log is rolled back by the next process, also by one that only reads.
func TestHotJournal(t *testing.T) {
	const branches = `SELECT name FROM branch`
	path := oldFile(t, "v6.db")
	want := texts(t, open(t, oldCopy(t, path), schema.Options{ReadOnly: true}), branches)

	raw, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	require.NoError(t, err)
	for _, text := range []string{
		`PRAGMA cache_size=1`, `BEGIN`, `UPDATE branch SET name = name || '?'`,
		`CREATE TABLE junk (data)`, `INSERT INTO junk VALUES (zeroblob(1000000)), (zeroblob(1000000))`,
	} {
		require.NoError(t, sqlitex.ExecuteTransient(raw, text, nil))
	}

	// Killed now, that process would leave these two files.
	killed := filepath.Join(t.TempDir(), "killed.db")
	for _, suffix := range []string{"", "-journal"} {
		data, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(killed+suffix, data, 0o644))
	}
	require.NoError(t, raw.Close())
	info, err := os.Stat(killed)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(1_000_000), "pages of the transaction are in the file")

	require.Equal(t, want, texts(t, open(t, killed, schema.Options{ReadOnly: true}), branches))
	require.NoFileExists(t, killed+"-journal")
}

package schema_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// old copies the file that a release of format 1 wrote.
func old(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../internal/oldfile/testdata/v1.db")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "old.db")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}

// A file that was brought forward has the same tables as a new one.
func TestMigrate(t *testing.T) {
	path := old(t)
	db := open(t, path, schema.Options{})
	fresh := open(t, filepath.Join(t.TempDir(), "new.db"), schema.Options{})
	for _, query := range []string{
		`SELECT name FROM sqlite_schema ORDER BY name`, `SELECT name FROM counter ORDER BY name`, `PRAGMA user_version`,
	} {
		require.Equal(t, texts(t, fresh, query), texts(t, db, query), query)
	}
	const text = `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name`
	comment, mark, space := regexp.MustCompile(`--.*`), regexp.MustCompile(`\s*([,()])\s*`), regexp.MustCompile(`\s+`)
	plain := func(list []string) string { // a column that was added has no comment
		text := comment.ReplaceAllString(strings.Join(list, ";"), "")
		return space.ReplaceAllString(mark.ReplaceAllString(text, "$1"), " ")
	}
	require.Equal(t, plain(texts(t, fresh, text)), plain(texts(t, db, text)))
}

// A DB that only reads leaves the file as it is, and sees that another one has brought it forward.
func TestOldFileReadOnly(t *testing.T) {
	path := old(t)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	reader := open(t, path, schema.Options{ReadOnly: true})
	version := func() (v int64) {
		require.NoError(t, reader.View(t.Context(), func(tx *schema.Tx) (err error) {
			v, err = tx.Version()
			return err
		}))
		return v
	}
	require.EqualValues(t, 1, version())
	require.EqualValues(t, 1, version())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before[100:], after[100:])
	open(t, path, schema.Options{})
	require.EqualValues(t, schema.Version, version())
}

// Many may open an old file at once; one of them brings it forward.
func TestMigrateAtOnce(t *testing.T) {
	path := old(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			db, err := schema.Open(t.Context(), path, schema.Options{})
			if err == nil {
				err = db.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

package schema_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"vfsdb/schema"
)

// old copies the file that a release of format 1 wrote.
func old(t *testing.T) string {
	t.Helper()
	return oldFile(t, "v1.db")
}

func oldFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../internal/oldfile/testdata/" + name)
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

// manyChanges copies a file of format 4 and gives it a long record. Each row of it has all numbers.
func manyChanges(t *testing.T) string {
	t.Helper()
	path := oldFile(t, "v4-renames.db")
	raw, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	require.NoError(t, err)
	require.NoError(t, sqlitex.ExecuteScript(raw, `
		WITH RECURSIVE n(i) AS (SELECT (SELECT max(seq) + 1 FROM change) UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
		INSERT INTO change (seq, branch, epoch, at, op, path, arg, grew, ino, dir, argdir, displaced)
			SELECT i, 1024, 2, i, 'rename', 'to', 'from', 0, 1026, 1024, 1025 - i % 2, iif(i % 3 = 0, 1027, NULL) FROM n;
		UPDATE counter SET next = 30001 WHERE name = 'change';`, nil))
	require.NoError(t, raw.Close())
	return path
}

// numbers sums up the numbers of all changes, as a reader of format 5 and later finds them.
const numbers = `SELECT format('%d rows, %d argdir, %d displaced', count(*),
	sum(iif(c.op = 'rename', ifnull(x.argdir, c.dir), x.argdir)), sum(x.displaced)) FROM change c LEFT JOIN other x ON x.seq = c.seq`

// The inode numbers of all changes are kept, in rows that only those changes have which need them.
func TestMigrateNumbers(t *testing.T) {
	path := manyChanges(t)
	reader := open(t, path, schema.Options{ReadOnly: true})
	was := texts(t, reader, numbers)
	db := open(t, path, schema.Options{})
	require.Equal(t, was, texts(t, db, numbers))
	require.Equal(t, was, texts(t, reader, numbers))
	require.Equal(t, []string{"0"}, texts(t, db, `SELECT count(*) FROM other x JOIN change c USING (seq)
		WHERE x.displaced IS NULL AND (x.argdir IS NULL OR c.op = 'rename' AND x.argdir = c.dir)`))
}

// A migration that is killed at any moment leaves the old file, or the new one, and the next process finds all of it.
func TestMigrateKilled(t *testing.T) {
	if path := os.Getenv("VFS_MIGRATE"); path != "" {
		db, err := schema.Open(t.Context(), path, schema.Options{})
		require.NoError(t, err)
		require.NoError(t, db.Close())
		return
	}

	for range 4 {
		path := manyChanges(t)
		reader := open(t, oldCopy(t, path), schema.Options{ReadOnly: true})
		was := texts(t, reader, numbers)

		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMigrateKilled$")
		child.Env = append(os.Environ(), "VFS_MIGRATE="+path)
		require.NoError(t, child.Start())
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // any moment will do, also none or the end
		_ = child.Process.Kill()
		_ = child.Wait()

		require.Equal(t, was, texts(t, open(t, path, schema.Options{ReadOnly: true}), numbers))
		db := open(t, path, schema.Options{})
		require.Equal(t, was, texts(t, db, numbers))
		require.Equal(t, []string{strconv.Itoa(schema.Version)}, texts(t, db, `PRAGMA user_version`))
	}
}

// oldCopy copies a file.
func oldCopy(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, os.WriteFile(to, data, 0o644))
	return to
}
